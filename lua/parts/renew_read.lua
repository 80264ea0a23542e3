-- Part: extends the lease of a READ, which is the TTL of the key `timeout`. 0: it lasts at least that
-- long; false: this owner does not hold it, or its lease ended while other readers held it. If `slack`
-- is given, the hash is extended by as much more, and only if it ends before the lease.
local function renew_read(lock, timeout, owner, lease, slack)
  local own = ttl(timeout)
  if own == -2 or redis.call('HEXISTS', lock, owner) == 0 then
    return false
  end
  lease = math.max(tonumber(lease), own)
  local left = ttl(lock)
  if not slack or left < lease then
    redis.call('PEXPIRE', lock, math.max(lease + (slack or 0), left))
  end
  redis.call('PEXPIRE', timeout, lease)
  return 0
end
