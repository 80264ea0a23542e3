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
  return first:sub(1, 14) .. string.char(first:byte(15) + math.floor(number / 256), number % 256)
end

-- How many permits are available; nil: there is no semaphore. Raises WRONGTYPE if the key is something
-- else: a string that is no number is no hash, either.
local function available_permits(semaphore)
  local value = redis.call('GET', semaphore)
  return value and (tonumber(value) or redis.call('HLEN', semaphore)) or nil
end

-- Fails, before anything is changed, if the commands that change the semaphore are forbidden or the
-- server has no memory: a script that stopped between the two would lose permits, or grant too many.
-- Not if there is no semaphore.
local function must_be_able_to_count(semaphore)
  redis.call('INCRBY', semaphore, '0')
end

-- Makes permits available, even if the server is out of memory: a script that has written may go on.
-- Removing a member that does not exist is a write that needs no memory.
local function add_without_memory(semaphore, permits, number)
  local available = redis.pcall('INCRBY', semaphore, number)
  if type(available) == 'number' then
    return available
  end
  redis.call('ZREM', permits, '')
  return redis.call('INCRBY', semaphore, number)
end

-- Removes members. Returns how many there were.
local function remove_permits(permits, ids)
  local removed = 0
  for from = 1, #ids, slice do
    removed = removed + redis.call('ZREM', permits, unpack(ids, from, math.min(from + slice - 1, #ids)))
  end
  return removed
end

-- Makes the permits available whose leases have ended, until `enough` are. `available`: how many are
-- so far. Returns how many are then, and how many leases had ended.
local function drop_ended(semaphore, permits, now, available, enough)
  local dropped = 0
  while available + dropped < enough do
    local ended = redis.call('ZRANGEBYSCORE', permits, '0', now, 'LIMIT', '0', slice)
    if #ended == 0 then
      break
    end
    must_be_able_to_count(semaphore)
    dropped = dropped + remove_permits(permits, ended)
  end
  if dropped > 0 then
    redis.call('INCRBY', semaphore, dropped)
  end
  return available + dropped, dropped
end

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
