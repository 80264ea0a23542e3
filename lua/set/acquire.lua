-- Takes a SET NX PX lock, or returns the holder and its remaining lease.
--
-- KEYS[1]  the lock: a string, whose value is the owner
-- ARGV[1]  lease, ms
-- ARGV[2]  owner
--
-- Returns  0: granted
--          {ms, owner}: busy, for at most this time (-1: without end)
--          an error WRONGTYPE: the key is no string, so it is nobody's SET NX PX lock
--
-- Idempotent: the holder repeats the call if the reply was lost. The lease starts anew and never
-- ends earlier than before.

local lock, owner = KEYS[1], ARGV[2]

if redis.call('SET', lock, owner, 'NX', 'PX', ARGV[1]) then
  return 0
end
local holder = redis.call('GET', lock)
local left = redis.call('PTTL', lock)
if holder ~= owner then
  return {left, holder}
end
if left < tonumber(ARGV[1]) then
  redis.call('PEXPIRE', lock, ARGV[1])
end
return 0
