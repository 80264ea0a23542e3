-- Part: checks whether an owner still holds its READ. 0: it does; false: it does not, or its lease
-- ended while others went on reading. Writes for the reason in verify.lua.
local function verify_read(lock, timeout, owner)
  redis.call('HDEL', lock, '')
  local own = ttl(timeout)
  if own == -2 or redis.call('HEXISTS', lock, owner) == 0 then
    return false
  end
  local left = ttl(lock)
  if left >= 0 and left < own then
    redis.call('PEXPIRE', lock, own)
  end
  return 0
end
