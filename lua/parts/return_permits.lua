-- Part: makes the permits of a hold available that it still has. Returns how many these were, and how
-- many connections were notified. Never makes a semaphore: the string may have been deleted.
local function return_permits(semaphore, permits, first, count, channel, sharded)
  local ids = {}
  for number = 0, count - 1 do
    ids[#ids + 1] = permit_id(first, number)
  end
  redis.call('ZREM', permits, '') -- a script that has written may go on without memory
  local exists = redis.call('EXISTS', semaphore) == 1
  if exists then
    must_be_able_to_count(semaphore)
  end
  local removed = remove_permits(permits, ids)
  local notified = 0
  if removed > 0 and exists then
    local available = redis.call('INCRBY', semaphore, removed)
    if available > 0 then
      notified = publish(channel, string.format('%.0f', available), sharded)
    end
  end
  return removed, notified
end
