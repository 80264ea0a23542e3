-- Part: the time to live of a key in ms, of which no more counts than 30 000 years: Lua formats larger
-- numbers with an exponent, which PEXPIRE and SET reject. Somebody may have meant "for ever".
local function ttl(key)
  return math.min(redis.call('PTTL', key), 1e15)
end
