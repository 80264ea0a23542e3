-- Part: extends the lease of any lock except READ. 0: it lasts at least that long; false: this owner
-- does not hold it.
local function renew(lock, owner, lease)
  if redis.call('HEXISTS', lock, owner) == 0 then
    return false
  end
  local left = ttl(lock)
  redis.call('PEXPIRE', lock, math.max(left, tonumber(lease)))
  return 0
end
