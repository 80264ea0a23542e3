-- Checks whether an owner still holds its READ.
--
-- KEYS[1]  the lock
-- KEYS[2]  the key with this owner's lease
-- ARGV[1]  owner
--
-- Returns  0: it holds the lock
--          nil: it does not, or its lease ended while others went on reading
--
-- The lease does not change. The hash's TTL is restored if a Redisson reader's renewal has reduced it
-- below this lease. A replica rejects the script: see verify.lua.

redis.call('HDEL', KEYS[1], '')
local own = redis.call('PTTL', KEYS[2])
if own == -2 or redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return false
end
local left = redis.call('PTTL', KEYS[1])
if left >= 0 and left < own then
  redis.call('PEXPIRE', KEYS[1], own)
end
return 0
