-- Part: the process queue: the processes of latchkey that wait for a lock of one holder (REENTRANT,
-- FENCED or WRITE), first come first served. A release grants the lock to the first of them and
-- notifies that process alone, unless others listen to the lock's channel, such as Redisson's
-- waiters: then the lock stays free, and they and the first try to take it.
--
-- The queue is a list of "owner lease tokens place": the owner as the field of the lock (that of a
-- WRITE ends in ":write"), the lease in ms, how many fencing tokens to reserve (0: not FENCED), and
-- the number of the place. The grant is the message "number place token" on the channel of the
-- process, `redisson_lock__channel:tag:uuid`. A waiter accepts it only if it has that place: an old
-- grant may arrive late. The message "0" asks the first to try again. A process that does not listen
-- loses its place.
--
-- These keys are not among KEYS, so a command may fail: the slot is moving, or the user lacks a
-- permission. Then nobody has a place, and waiters are notified of releases, or poll.

-- A granted process renews; a killed or frozen one keeps the others waiting no longer than this, ms.
local grant_lease = 3000
-- Waiters try again every second. The queue ends this long after the last attempt, ms.
local queue_life = '10000'

-- The lock `{a}` has the tag of the lock `a`, and a queue of its own.
local function process_queue(lock, tag)
  return 'latchkey_process_queue:' .. tag .. (lock == tag and ':' or '')
end

local function channel_of(tag, owner)
  return 'redisson_lock__channel:' .. tag .. ':' .. owner:sub(1, 36)
end

-- Whether somebody is subscribed to the channel at this server. A message also reaches those who are
-- subscribed at another one, as long as they do not know that it is no longer the master: they must
-- not read of a grant that is undone because nobody received it here.
local function is_heard(channel, sharded)
  local heard = redis.pcall('PUBSUB', sharded == '1' and 'SHARDNUMSUB' or 'NUMSUB', channel)
  return type(heard[2]) == 'number' and heard[2] > 0
end

-- The entry of this owner; nil: it has no place. A reader is the owner of the WRITE that it was.
local function place_of(lock, tag, owner)
  local entries = redis.pcall('LRANGE', process_queue(lock, tag), '0', '-1')
  for _, entry in ipairs(entries) do
    local its = entry:match('^%S+')
    if its == owner or its == owner .. ':write' then
      return entry
    end
  end
  return nil, entries.err
end

local function leave_process_queue(lock, tag, owner)
  local entry = place_of(lock, tag, owner)
  return entry and redis.pcall('LREM', process_queue(lock, tag), '0', entry) == 1
end

-- The owner keeps its place or gets the last one. Returns the number of the place; 0: it has none.
-- The first LREM removes nothing: without the permission for it nobody could leave the queue.
local function take_place(lock, tag, owner, lease, tokens)
  local queue = process_queue(lock, tag)
  local entry, forbidden = place_of(lock, tag, owner)
  if not entry and not forbidden then
    local time = redis.pcall('TIME')
    if time.err then
      return 0
    end
    local place = string.format('%.0f', time[1] * 1000000 + time[2])
    entry = owner .. ' ' .. lease .. ' ' .. tokens .. ' ' .. place
    if redis.pcall('LREM', queue, '0', entry) ~= 0 or
       type(redis.pcall('RPUSH', queue, entry)) ~= 'number' then
      return 0
    end
  end
  if not entry then
    return 0
  end
  if redis.pcall('PEXPIRE', queue, queue_life) ~= 1 then
    redis.pcall('LREM', queue, '0', entry)
    return 0
  end
  return tonumber(entry:match('%d+$'))
end

-- Writes the hold of a process in the queue. Returns its token (0: not FENCED); nil: a command
-- failed, and nothing is held.
local function grant(lock, tag, owner, lease, tokens)
  local allowed, token = true, 0
  if tokens > 0 then
    allowed, token = pcall(new_token, 'redisson_lock_token:' .. tag, tokens)
  end
  if not allowed or type(token) ~= 'number' then
    return nil
  end
  if owner:sub(-6) == ':write' then
    redis.pcall('HSET', lock, 'mode', 'write', owner, '1')
    redis.pcall('DEL', 'latchkey_waiting_writer:' .. tag .. (lock == tag and ':' or ''))
  else
    redis.pcall('HSET', lock, owner, '1')
  end
  if redis.pcall('PEXPIRE', lock, lease) ~= 1 then
    redis.pcall('HDEL', lock, 'mode', owner)
    return nil
  end
  return token
end

-- Grants a free lock to the first process in the queue that listens. Returns whether somebody has
-- it now. `until_owner`: not to this owner, nor to those behind it.
local function grant_first(lock, tag, sharded, until_owner)
  local queue = process_queue(lock, tag)
  while true do
    local entry = redis.pcall('LINDEX', queue, '0')
    if type(entry) ~= 'string' then
      return false
    end
    local owner, lease, tokens, place = entry:match('^(%S+) (%d+) (%d+) (%d+)$')
    if not owner or owner == until_owner or redis.pcall('LREM', queue, '1', entry) ~= 1 then
      return false
    end
    local channel = channel_of(tag, owner)
    if is_heard(channel, sharded) then
      lease = math.min(tonumber(lease), grant_lease)
      local token = grant(lock, tag, owner, lease, tonumber(tokens))
      if not token then
        return false
      end
      local number = owner:match('^:(%d+)', 37)
      local message = number .. ' ' .. place .. ' ' .. string.format('%.0f', token)
      if publish(channel, message, sharded) > 0 then
        return true
      end
      redis.pcall('HDEL', lock, 'mode', owner)
      return false
    end
  end
end

-- After a release. `notified` is what PUBLISH on the lock's channel returned. Returns how many
-- connections were notified there.
local function pass_on(lock, tag, releaser, notified, sharded)
  notified = type(notified) == 'number' and notified or 0
  if redis.pcall('EXISTS', process_queue(lock, tag)) ~= 1 then
    return notified
  end
  leave_process_queue(lock, tag, releaser) -- a late copy of its acquire may have taken a place
  if notified == 0 then
    grant_first(lock, tag, sharded)
    return 0
  end
  local first = redis.pcall('LINDEX', process_queue(lock, tag), '0')
  if type(first) == 'string' then
    publish(channel_of(tag, first), '0', sharded)
  end
  return notified
end
