-- Part: whether the value of a SET NX PX lock is this owner's. If not, a write that changes nothing
-- follows: a replica rejects it, so a replica never denies a hold because its data is stale.
local function held_by(lock, owner)
  local value = redis.call('GET', lock)
  if value == owner then
    return true
  end
  if value then
    redis.call('RENAMENX', lock, lock)
  else
    redis.call('DEL', lock)
  end
  return false
end
