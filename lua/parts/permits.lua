-- Part: the permits of a semaphore, in the layout of Redisson's RPermitExpirableSemaphore.
--
-- The key of the semaphore is a string: how many permits are available. Beside it a sorted set has a
-- member of 16 raw bytes for each permit that is taken; its score is when its lease ends, in epoch ms
-- of the server's clock. (Redisson writes the time of its clients' clocks.) So all permits are those
-- available plus the members of the set.
--
-- The permits of one hold are numbered: the first one's last 10 bits are zero, and the number of each
-- is added. No permit has the id of another one, so a delayed release never frees a later permit.
--
-- A key without a semaphore has no string. Its sorted set may have members still, if somebody deleted
-- the string alone: they count as taken when the semaphore is made anew.

-- Lua unpacks a few thousand values at most.
local slice = 1000

local function server_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- The id of a permit of the hold: 0, 1, 2, …
local function permit_id(first, number)
  if number == 0 then
    return first
  end
  return first:sub(1, 14) .. string.char(first:byte(15) + math.floor(number / 256), number % 256)
end

-- How many permits are available; nil: there is no semaphore. Raises WRONGTYPE if the key is something
-- else: a string that is no number is no hash, either.
local function available_permits(semaphore)
  local value = redis.call('GET', semaphore)
  return value and (tonumber(value) or redis.call('HLEN', semaphore)) or nil
end
