-- Part: lets a READ end earlier than its lease. Returns whether the owner holds. Needs ttl and
-- dead_readers.
--
-- The hash is shortened to the longest lease that is left, if that is earlier by `slack` ms at least. In a crowd, of which
-- only a part is looked at, it stays.
local function expire_read(lock, reader, tag, owner, ends, slack)
  local own = redis.call('PTTL', reader)
  if own == -2 or redis.call('HEXISTS', lock, owner) == 0 then
    return false
  end
  ends = tonumber(ends)
  local _, longest, all = dead_readers(lock, tag, owner)
  local left = ttl(lock)
  if own < 0 or own > ends then
    redis.call('PEXPIRE', reader, ends)
  end
  longest = math.max(longest, ends)
  if all and longest + slack < left then
    redis.call('PEXPIRE', lock, longest)
  end
  return true
end
