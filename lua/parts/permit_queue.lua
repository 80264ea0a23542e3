-- Part: the processes of latchkey that wait for permits, first come first served. An acquire leaves as
-- many permits as the places in front of its own want, so nobody is overtaken for ever: neither a
-- process far from the server, nor a call for many permits. The clients of Redisson do not know of it.
--
-- A sorted set has the id of the first permit of each place, in the order in which they came. A hash
-- has "count end" for each: how many permits the place is for, and until when it lasts, in epoch ms.
-- Each attempt extends its place, and attempts are made every second. So a killed or frozen process
-- blocks the others for place_life at most, or twice as long if the clock is set back meanwhile.
--
-- The keys are not among KEYS, so a command may fail: the slot is moving, or the user lacks a
-- permission. Then nobody gets a place, and whoever asks first gets the permits.

local place_life = 3000

local function places_of(queue)
  return queue .. ':places'
end

local function lasts(ends, now)
  return ends and ends > now and ends <= now + place_life
end

-- How many permits those want who are in front of this id, when the first of their places ends, and
-- how many ended places were dropped. Counts no further than `enough`.
local function wanted_before(queue, id, now, enough)
  local wanted, nearest, dropped, kept, some = 0, nil, 0, 0, nil
  repeat
    some = redis.pcall('ZRANGE', queue, string.format('%.0f', kept), string.format('%.0f', kept + 15))
    for _, its in ipairs(some) do
      if its == id or wanted >= enough then
        return wanted, nearest, dropped
      end
      local place = redis.pcall('HGET', places_of(queue), its)
      local count, ends = tostring(place):match('^(%d+) (%d+)$')
      ends = tonumber(ends)
      if lasts(ends, now) then
        wanted = wanted + count
        nearest = math.min(nearest or ends, ends)
        kept = kept + 1
      elseif type(place) ~= 'table' and redis.pcall('ZREM', queue, its) == 1 then
        redis.pcall('HDEL', places_of(queue), its)
        dropped = dropped + 1
      else
        kept = kept + 1
      end
    end
  until #some < 16
  return wanted, nearest, dropped
end

local function leave_place(queue, id)
  redis.pcall('HDEL', places_of(queue), id)
  return redis.pcall('ZREM', queue, id) == 1
end

-- The place lasts from now on for place_life. Returns whether the id has one. The first two commands
-- change nothing: without the permission for them no place could be read or left.
local function keep_place(queue, id, count, now)
  local places = places_of(queue)
  local place = string.format('%.0f %.0f', count, now + place_life)
  local last = redis.pcall('ZRANGE', queue, '-1', '-1', 'WITHSCORES')
  local done = type(redis.pcall('HGET', places, id)) ~= 'table' and
               redis.pcall('HDEL', places, '') == 0 and
               type(redis.pcall('HSET', places, id, place)) == 'number' and
               type(redis.pcall('ZADD', queue, 'NX', (last[2] or 0) + 1, id)) == 'number'
  for _, key in ipairs({queue, places}) do
    done = done and redis.pcall('PEXPIRE', key, string.format('%.0f', place_life)) == 1
  end
  if not done then
    leave_place(queue, id)
  end
  return done
end
