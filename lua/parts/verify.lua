-- Part: checks whether an owner still holds a lock of any type except READ. 0: it does; false: it
-- does not. Deleting a field that does not exist is a write: a replica rejects it, and a master
-- changes nothing.
local function verify(lock, owner)
  redis.call('HDEL', lock, '')
  if redis.call('HEXISTS', lock, owner) == 0 then
    return false
  end
  return 0
end
