-- Part: reserves fencing tokens. A token is the larger of the last one's successor and the server's
-- clock in µs, so tokens increase even if the server loses all data. The key never expires: SET
-- without a TTL also removes the TTL that a Redisson client gave it.
--
-- Returns the last of the tokens, or an error as a table. Raises the errors of commands.
local function new_token(key, tokens)
  local last = tonumber(redis.call('GET', key) or '0') or 0
  local time = redis.call('TIME')
  local token = math.max(last + tokens, time[1] * 1000000 + time[2])
  if not (token < 9007199254740992) then -- the key may contain nan
    return redis.error_reply('ERR the fencing token has reached 2^53, beyond which Lua cannot count')
  end
  redis.call('SET', key, string.format('%.0f', token))
  return token
end

-- The token of a hold that is acquired again: it stays, because no other owner can have taken one
-- meanwhile, unless the key was deleted while the lock was held. Returns as new_token.
local function same_token(key, tokens)
  local token = tonumber(redis.call('GET', key) or '0') or 0
  return token < 1 and new_token(key, tokens) or token
end
