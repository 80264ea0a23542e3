-- Part: makes the permits of a hold available that it still has. Returns how many these were, and how
-- many connections were notified. Never makes a semaphore: the string may have been deleted.
--
-- The count comes before the members: if these may not be removed, the same command takes the count
-- back. Conversely, a forbidden INCRBY would lose the permits.
local function return_permits(semaphore, permits, first, count, channel, sharded)
  local exists = redis.call('EXISTS', semaphore) == 1
  local available = 0
  if exists then
    available = redis.pcall('INCRBY', semaphore, count)
    if type(available) ~= 'number' then
      -- A script that has written may go on although the server is out of memory. Removing a member
      -- that does not exist is a write that needs no memory.
      redis.call('ZREM', permits, '')
      available = redis.call('INCRBY', semaphore, count)
    end
  end
  local done, removed
  if count == 1 then
    removed = redis.pcall('ZREM', permits, first)
    done = type(removed) == 'number'
  else
    --#include parts/remove_permits.lua
    local ids = {}
    for number = 0, count - 1 do
      ids[#ids + 1] = permit_id(first, number)
    end
    done, removed = pcall(remove_permits, permits, ids)
  end
  if not done then
    removed = 0
  end
  if exists and removed < count then
    available = redis.call('INCRBY', semaphore, removed - count)
  end
  if not done then
    redis.call('ZREM', permits, '') -- fails for the same reason, and says it
  end
  local notified = 0
  if exists and removed > 0 and available > 0 then
    notified = publish(channel, string.format('%.0f', available), sharded)
  end
  return removed, notified
end
