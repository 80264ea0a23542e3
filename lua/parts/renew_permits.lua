-- Part: extends the lease of a hold of a semaphore. 0: it lasts at least that long; false: it does not
-- have all of its permits any more. Removing a member that does not exist is a write that needs no
-- memory: a replica rejects it, and after it ZADD works on a server that is out of memory.
local function renew_permits(permits, first, count, lease)
  redis.call('ZREM', permits, '')
  local now = server_ms()
  local ends = end_of_hold(permits, first, count, now)
  if not ends then
    return false
  end
  set_end(permits, first, count, math.max(ends, now + lease), 'XX')
  return 0
end
