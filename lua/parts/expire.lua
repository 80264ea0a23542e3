-- Part: lets any hold but a READ end earlier than its lease. Returns whether the owner holds.
local function expire(lock, owner, ends)
  if redis.call('HEXISTS', lock, owner) == 0 then
    return false
  end
  local left = redis.call('PTTL', lock)
  if left < 0 or left > tonumber(ends) then
    redis.call('PEXPIRE', lock, ends)
  end
  return true
end
