-- Part: checks whether a hold of a semaphore still has all of its permits. 0: it does; false: it does
-- not. Writes for the reason in verify.lua.
local function verify_permits(permits, first, count)
  redis.call('ZREM', permits, '')
  return end_of_hold(permits, first, count, server_ms()) and 0
end
