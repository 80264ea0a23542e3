-- Takes a FENCED lock with tokens larger than any before, or says who is in the way.
--
-- KEYS[1]  the lock
-- KEYS[2]  the last token given for it
-- ARGV[1]  lease, ms
-- ARGV[2]  owner
-- ARGV[3]  how many tokens to reserve
--
-- Returns  token: granted, the last of those reserved; 1 or more
--          {ms, owner}: busy, for at most this time (-1: without end)
--
-- A token is the larger of the last one's successor and the server's clock in µs, so tokens increase
-- even if the server loses all data. If the holder calls again the token stays, because no other
-- owner can have taken one meanwhile. The token's key never expires: SET without a TTL also removes
-- the TTL that a Redisson client gave it.

--#include parts/holder.lua

local held = redis.call('EXISTS', KEYS[1]) == 1
local left = held and redis.call('PTTL', KEYS[1])
if held and (redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 or
             redis.call('HEXISTS', KEYS[1], 'mode') == 1) then
  return {left, holder(KEYS[1])}
end

local token = tonumber(redis.call('GET', KEYS[2]) or 0) or 0
if not held or token < 1 then
  local time = redis.call('TIME')
  token = math.max(token + ARGV[3], time[1] * 1000000 + time[2])
  if token >= 9007199254740992 then
    return redis.error_reply('ERR the fencing token has reached 2^53, beyond which Lua cannot count')
  end
  redis.call('SET', KEYS[2], string.format('%.0f', token))
end
if not held then
  redis.call('HSET', KEYS[1], ARGV[2], '1')
  if redis.pcall('PEXPIRE', KEYS[1], ARGV[1]) ~= 1 then
    redis.call('HDEL', KEYS[1], ARGV[2])
    redis.call('PEXPIRE', KEYS[1], ARGV[1]) -- see acquire.lua
    return false
  end
elseif left < tonumber(ARGV[1]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
end
return token
