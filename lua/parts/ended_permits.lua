-- Part: the permits whose leases have ended.

-- Fails, before anything is changed, if the commands that change the semaphore are forbidden or the
-- server has no memory: a script that stopped between the two would lose permits, or grant too many.
-- Not if there is no semaphore.
local function must_be_able_to_count(semaphore)
  redis.call('INCRBY', semaphore, '0')
end

-- Makes permits available whose leases have ended, a slice of them at most, unless `enough` are already:
-- the server does nothing else meanwhile. Who finds too few asks again at once if there are more.
-- `available`: how many are so far. Returns how many are then, and how many leases had ended.
local function drop_ended(semaphore, permits, now, available, enough)
  local ended = {}
  if available < enough then
    ended = redis.call('ZRANGEBYSCORE', permits, '0', now, 'LIMIT', '0', slice)
  end
  if #ended == 0 then
    return available, 0
  end
  must_be_able_to_count(semaphore)
  local dropped = remove_permits(permits, ended)
  redis.call('INCRBY', semaphore, dropped)
  return available + dropped, dropped
end
