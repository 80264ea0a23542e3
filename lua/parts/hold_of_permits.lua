-- Part: the permits of one hold.

-- When the lease of the hold ends; nil: it does not have all of its permits any more.
local function end_of_hold(permits, first, count, now)
  local ends
  for number = 0, count - 1 do
    local score = tonumber(redis.call('ZSCORE', permits, permit_id(first, number)) or 0)
    if score <= now then
      return nil
    end
    ends = math.min(ends or score, score)
  end
  return ends
end

-- The lease of all permits of the hold ends then. `only`: 'NX': of those that are not taken yet; 'XX':
-- of those that are. Returns how many were not taken.
local function set_end(permits, first, count, ends, only)
  local most, added = slice / 2, 0
  for from = 0, count - 1, most do
    local words = {only}
    for number = from, math.min(from + most, count) - 1 do
      words[#words + 1] = string.format('%.0f', ends)
      words[#words + 1] = permit_id(first, number)
    end
    added = added + redis.call('ZADD', permits, unpack(words))
  end
  return added
end
