-- Part: the process queue: the processes of latchkey that wait for a lock of one holder (REENTRANT,
-- FENCED or WRITE), first come first served. A release grants the lock to the first of them and
-- notifies that process alone, unless others listen to the lock's channel, such as Redisson's
-- waiters: then the lock stays free, and they and the first try to take it.
--
-- A sorted set has the owners by the numbers of their places; an owner is the field of the lock (that
-- of a WRITE ends in ":write"). A hash has "end lease tokens" for each: until when its place lasts, in
-- epoch ms, the lease in ms, and how many fencing tokens to reserve (0: it wants none). Each attempt
-- extends its place, so processes that were killed or are frozen together lose their places together.
--
-- The grant is the message "number place token" on the channel of the process,
-- `redisson_lock__channel:tag:uuid`. A waiter accepts it only if it has that place: an old grant may
-- arrive late. The message "0" asks the process to try again. A process that does not listen loses its
-- place. So does one whose place has ended; it is asked to try again, because the server may have
-- stood still.
--
-- These keys are not among KEYS, so a command may fail: the slot is moving, or the user lacks a
-- permission. Then nobody has a place, and waiters are notified of releases, or poll.

-- A granted process renews; a killed or frozen one keeps the others waiting no longer than this, ms.
local grant_lease = 3000

local function channel_of(tag, owner)
  return 'redisson_lock__channel:' .. tag .. ':' .. owner:sub(1, 36)
end

-- Whether somebody is subscribed to the channel at this server; nil: the user may not know. A message
-- also reaches those who are subscribed at another one, as long as they do not know that it is no
-- longer the master: they must not read of a grant that is undone because nobody received it here.
local function is_heard(channel, sharded)
  local number = redis.pcall('PUBSUB', sharded == '1' and 'SHARDNUMSUB' or 'NUMSUB', channel)[2]
  return number and number > 0
end

-- Returns whether the owner had a place. A reader is the owner of the WRITE that it was.
local function leave_process_queue(lock, tag, owner)
  local queue = process_queue(lock, tag)
  redis.pcall('HDEL', places_of(queue), owner, owner .. ':write')
  local left = redis.pcall('ZREM', queue, owner, owner .. ':write')
  return type(left) == 'number' and left > 0
end

-- The owner keeps its place or gets the last one. Returns the number of the place; 0: it has none, since
-- a release by this user could not grant the lock to it. What is tried here first changes nothing.
local function take_place(lock, tag, owner, lease, tokens, sharded)
  local queue = process_queue(lock, tag)
  local place = keep_place(queue, owner, lease, tokens)
  if place then
    return place
  end
  local last, now = redis.pcall('ZRANGE', queue, '-1', '-1', 'WITHSCORES'), server_us()
  if last.err or not now or redis.pcall('ZREM', queue, '') ~= 0 or
     type(redis.pcall('HGET', places_of(queue), owner)) == 'table' or
     redis.pcall('HDEL', places_of(queue), '') ~= 0 or
     is_heard(channel_of(tag, owner), sharded) == nil then
    return 0
  end
  place = math.max(now, (last[2] or 0) + 1)
  if redis.pcall('ZADD', queue, string.format('%.0f', place), owner) == 1 and
     extend_place(queue, owner, now, lease, tokens) and
     type(redis.pcall('ZSCORE', queue, owner)) == 'string' then
    return place
  end
  leave_process_queue(lock, tag, owner)
  return 0
end

-- Writes the hold of a process in the queue. Returns its token (0: it wants none); nil: a command
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

-- Takes the first owner out of the queue. False: the user may not.
local function drop_first(queue, owner)
  redis.pcall('HDEL', places_of(queue), owner)
  return redis.pcall('ZREM', queue, owner) == 1
end

-- The first process of the queue whose place lasts: its owner, and unless the user may not read it, the
-- number of its place, its lease and how many tokens it wants. Nil: there is none before `until_owner`.
-- Drops those whose places have ended.
local function first_in_queue(queue, tag, sharded, until_owner)
  local now = server_us()
  while true do
    local first = redis.pcall('ZRANGE', queue, '0', '0', 'WITHSCORES')
    local owner = first[1]
    if not owner or owner == until_owner then
      return nil
    end
    local place = now and redis.pcall('HGET', places_of(queue), owner)
    local ends, lease, tokens = tostring(place):match('^(%d+) (%d+) (%d+)$')
    local left = ends and tonumber(ends) - now / 1000
    if left and left > 0 and left <= place_life then
      return owner, string.format('%.0f', first[2]), tonumber(lease), tonumber(tokens)
    elseif type(place) == 'table' or not now or not drop_first(queue, owner) then
      return owner
    end
    publish(channel_of(tag, owner), '0', sharded)
  end
end

-- Grants a free lock to the first process in the queue that listens. Returns whether somebody has
-- it now. `until_owner`: not to this owner, nor to those behind it.
local function grant_first(lock, tag, sharded, until_owner)
  local queue = process_queue(lock, tag)
  while true do
    local owner, place, lease, tokens = first_in_queue(queue, tag, sharded, until_owner)
    if not owner then
      return false
    end
    local channel = channel_of(tag, owner)
    local heard = is_heard(channel, sharded)
    if not place or heard == nil or not drop_first(queue, owner) then
      publish(channel, '0', sharded) -- this user cannot grant
      return false
    end
    if heard then
      local token = grant(lock, tag, owner, math.min(lease, grant_lease), tokens)
      if not token then
        publish(channel, '0', sharded) -- it takes the lock itself
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

-- After a release. `notified` is how many connections it has notified on the lock's channel. Returns
-- that number.
local function pass_on(lock, tag, releaser, notified, sharded)
  local queue = process_queue(lock, tag)
  if redis.pcall('EXISTS', queue) == 0 then
    return notified
  end
  leave_process_queue(lock, tag, releaser) -- a late copy of its acquire may have taken a place
  if notified == 0 then
    grant_first(lock, tag, sharded)
    return 0
  end
  local first = first_in_queue(queue, tag, sharded)
  if first then
    publish(channel_of(tag, first), '0', sharded)
  end
  return notified
end
