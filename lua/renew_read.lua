-- Extends the lease of a READ.
--
-- KEYS[1]  the lock
-- KEYS[2]  the key with this owner's lease
-- ARGV[1]  lease from now, ms
-- ARGV[2]  owner
--
-- Returns  0: the lease lasts at least that long
--          nil: this owner does not hold it any more, or its lease ended while other readers held it
--
-- The hash lives as long as the longest lease. Redisson's renewal sets its TTL to 30 s, even if a
-- latchkey lease is longer. Works while the server is out of memory and always writes: see renew.lua.

local own = redis.call('PTTL', KEYS[2])
if own == -2 or redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
  return false
end
local lease = math.max(tonumber(ARGV[1]), own)
local left = redis.call('PTTL', KEYS[1])
redis.call('PEXPIRE', KEYS[1], math.max(lease, left))
redis.call('PEXPIRE', KEYS[2], lease)
return 0
