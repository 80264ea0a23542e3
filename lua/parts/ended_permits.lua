-- Part: the permits whose leases have ended.

-- Fails, before anything is changed, if the commands that change the semaphore are forbidden or the
-- server has no memory: a script that stopped between the two would lose permits, or grant too many.
-- Not if there is no semaphore.
local function must_be_able_to_count(semaphore)
  redis.call('INCRBY', semaphore, '0')
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
