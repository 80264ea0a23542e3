-- Part: removes permits from those that are taken. Returns how many there were.
local function remove_permits(permits, ids)
  local removed = 0
  for from = 1, #ids, slice do
    removed = removed + redis.call('ZREM', permits, unpack(ids, from, math.min(from + slice - 1, #ids)))
  end
  return removed
end
