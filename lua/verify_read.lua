-- Asks whether an owner still holds its READ.
--
-- KEYS[1]  the lock
-- KEYS[2]  this owner's timeout
-- ARGV[1]  owner
--
-- Returns  0: it does
--          nil: it does not, or its lease ended while others went on reading
--
-- The lease stays as it is. The hash is given back the time that a Redisson reader's renewal took
-- from it, or it would end before our lease does. A replica's word counts nothing: see verify.lua.

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
