-- Part: the processes of latchkey that wait for permits, first come first served. An acquire leaves as
-- many permits as the places in front of its own want, so nobody is overtaken for ever: neither a
-- process far from the server, nor a call for many permits. The clients of Redisson do not know of it.
--
-- The queue is a list of "id count end": the 16 bytes of the first permit's id, how many permits the
-- place is for, and until when it lasts, in epoch ms. Each attempt extends its place, and attempts are
-- made every second, so a killed or frozen process keeps the others waiting for no longer than that.
--
-- The key is not among KEYS, so a command may fail: the slot is moving, or the user lacks a permission.
-- Then nobody has a place, and whoever asks first gets the permits.

local place_life = 3000

local function place_in(entry)
  local count, ends = entry:match('^ (%d+) (%d+)$', 17)
  return entry:sub(1, 16), tonumber(count) or 0, tonumber(ends) or 0
end

-- Drops the first places that have ended. Returns how many permits those want who are in front of this
-- id, when the first of their places ends, and the index and the entry of its own place; nil: it has
-- none.
local function wanted_before(queue, id, now)
  local entries = redis.pcall('LRANGE', queue, '0', '-1')
  local wanted, nearest, dropped = 0, nil, 0
  for index, entry in ipairs(entries) do
    local its, count, ends = place_in(entry)
    if its == id then
      return wanted, nearest, index - 1 - dropped, entry
    end
    if ends > now then
      wanted = wanted + count
      nearest = math.min(nearest or ends, ends)
    elseif wanted == 0 and redis.pcall('LPOP', queue) == entry then
      dropped = dropped + 1
    end
  end
  return wanted, nearest
end

-- A place lasts from now on for place_life. Without the permission for the LRANGE and the LREM, which
-- do nothing here, nobody could find or leave a place. Returns whether the id has a place.
local function keep_place(queue, id, count, now, index)
  local entry = id .. string.format(' %.0f %.0f', count, now + place_life)
  local done
  if index then
    done = redis.pcall('LSET', queue, index, entry).ok
  else
    done = not redis.pcall('LRANGE', queue, '0', '0').err and redis.pcall('LREM', queue, '0', '') == 0 and
           type(redis.pcall('RPUSH', queue, entry)) == 'number'
  end
  if done and redis.pcall('PEXPIRE', queue, string.format('%.0f', place_life)) ~= 1 then
    redis.pcall('LREM', queue, '0', entry)
    return false
  end
  return done
end
