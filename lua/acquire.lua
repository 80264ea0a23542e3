-- Takes a REENTRANT lock, or returns the holder and its remaining lease.
--
-- KEYS[1]  the lock
-- ARGV[1]  lease, ms
-- ARGV[2]  owner
--
-- Returns  0: granted
--          {ms, owner}: busy, for at most this time (-1: without end)
--
-- Idempotent: the hold count is set and never increased, because the holder repeats the call if the
-- reply was lost. The lease starts anew and never ends earlier than before.
-- Any other value under the name makes the lock busy, also a READ or WRITE.

if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('HSET', KEYS[1], ARGV[2], '1')
  if redis.pcall('PEXPIRE', KEYS[1], ARGV[1]) == 1 then
    return 0
  end
  -- Without a TTL the key would block for ever. The second call fails again and reports why.
  redis.call('HDEL', KEYS[1], ARGV[2])
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  return false
end

--#include parts/holder.lua

local left = redis.call('PTTL', KEYS[1])
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 or redis.call('HEXISTS', KEYS[1], 'mode') == 1 then
  return {left, holder(KEYS[1])}
end
if left < tonumber(ARGV[1]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
end
return 0
