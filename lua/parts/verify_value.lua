-- Part: checks whether an owner still holds a SET NX PX lock. 0: it does; false: it does not.
-- RENAMENX of a key to its own name is a write that changes nothing: a replica rejects it.
local function verify(lock, owner)
  if not held_by(lock, owner) then
    return false
  end
  redis.call('RENAMENX', lock, lock)
  return 0
end
