-- Takes a REENTRANT lock, or says who is in the way and for how long.
--
-- KEYS[1]  the lock
-- ARGV[1]  lease, ms
-- ARGV[2]  owner
--
-- Returns  0: granted
--          {ms, owner}: busy, for no longer than that (-1: there is no end)
--
-- The hold count is set, never added to: asked again by the holder, whose reply may have been lost,
-- the lock is held once. Its lease starts anew and never ends earlier than before.
-- Whatever else lives under the name is in the way, a READ or WRITE too.

if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('HSET', KEYS[1], ARGV[2], 1)
  if redis.pcall('PEXPIRE', KEYS[1], ARGV[1]) == 1 then
    return 0
  end
  -- Without a TTL the key would block for ever. The second refusal ends the script and says why.
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
