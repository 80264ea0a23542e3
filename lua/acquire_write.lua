-- Takes a WRITE, or returns the holder and its remaining lease.
--
-- KEYS[1]  the lock
-- ARGV[1]  lease, ms
-- ARGV[2]  owner, followed by ":write"
--
-- Returns  0: granted
--          {ms, owner}: busy, for at most this time (-1: without end)
--
-- As acquire.lua, with a field for the mode. The hash of a plain lock has no mode, so the lock is
-- busy; Redisson's script would treat it as free.

if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('HSET', KEYS[1], 'mode', 'write', ARGV[2], 1)
  if redis.pcall('PEXPIRE', KEYS[1], ARGV[1]) == 1 then
    return 0
  end
  redis.call('HDEL', KEYS[1], 'mode', ARGV[2])
  redis.call('PEXPIRE', KEYS[1], ARGV[1]) -- see acquire.lua
  return false
end

--#include parts/holder.lua

local left = redis.call('PTTL', KEYS[1])
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
  return {left, holder(KEYS[1])}
end
if left < tonumber(ARGV[1]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
end
return 0
