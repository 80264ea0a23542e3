-- Part: makes the permits of a hold available that it still has. Returns how many these were, and how
-- many connections were notified. Never makes a semaphore: the string may have been deleted.
--
-- The count comes before the members: if these may not be removed, the same command takes the count
-- back. The other way about, a forbidden INCRBY would lose the permits.
local function return_permits(semaphore, permits, first, count, channel, sharded)
  local ids = {}
  for number = 0, count - 1 do
    ids[#ids + 1] = permit_id(first, number)
  end
  local exists = redis.call('EXISTS', semaphore) == 1
  local available = 0
  if exists then
    available = add_without_memory(semaphore, permits, count)
  end
  local done, removed = pcall(remove_permits, permits, ids)
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
