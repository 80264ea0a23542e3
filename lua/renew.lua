-- Prolongs any lease but that of a READ.
--
-- KEYS[1]  the lock
-- ARGV[1]  lease from now, ms
-- ARGV[2]  owner; for a WRITE with ":write" behind it
--
-- Returns  0: the lease ends in that time or later
--          nil: this owner no longer holds
--
-- Works while the server is out of memory, and always writes: a replica must not confirm a hold.

if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
  return false
end
local left = redis.call('PTTL', KEYS[1])
redis.call('PEXPIRE', KEYS[1], math.max(left, tonumber(ARGV[1])))
return 0
