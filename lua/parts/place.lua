-- Part: the place of one process in the process queue, which parts/process_queue.lua describes.

-- Waiters try again every second. A place ends this long after the last attempt, ms.
local place_life = 3000

-- The lock `{a}` has the tag of the lock `a`, and a queue of its own.
local function process_queue(lock, tag)
  return 'latchkey_process_queue:' .. tag .. (lock == tag and ':' or '')
end

local function places_of(queue)
  return queue .. ':places'
end

-- The server's clock in µs; nil: the user may not read it.
local function server_us()
  local time = redis.pcall('TIME')
  return time[1] and time[1] * 1000000 + time[2]
end

-- The place lasts for place_life from now on. Returns whether it does.
local function extend_place(queue, owner, now, lease, tokens)
  local places, life = places_of(queue), tostring(place_life)
  local entry = string.format('%.0f', math.floor(now / 1000) + place_life) .. ' ' .. lease .. ' ' .. tokens
  return type(redis.pcall('HSET', places, owner, entry)) == 'number' and
         redis.pcall('PEXPIRE', places, life) == 1 and redis.pcall('PEXPIRE', queue, life) == 1
end

-- 1: the owner is one of the first two in the queue. These also listen to the lock's channel, on which
-- Redisson says that it has deleted the lock, and the first of them may be dead.
local function is_near_front(queue, owner, place)
  local first = place ~= 0 and redis.pcall('ZRANGE', queue, '0', '1') or {}
  return (first[1] == owner or first[2] == owner) and 1 or 0
end

-- Returns the number of the place that the owner keeps; nil: it has none, or loses it.
local function keep_place(queue, owner, lease, tokens)
  local place, now = redis.pcall('ZSCORE', queue, owner), server_us()
  return type(place) == 'string' and now and extend_place(queue, owner, now, lease, tokens) and
         tonumber(place) or nil
end
