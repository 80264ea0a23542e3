-- Part: extends the lease of a SET NX PX lock. 0: it lasts at least that long; false: this owner does
-- not hold it.
local function renew(lock, owner, lease)
  if not held_by(lock, owner) then
    return false
  end
  local left = ttl(lock)
  redis.call('PEXPIRE', lock, math.max(left, tonumber(lease)))
  return 0
end
