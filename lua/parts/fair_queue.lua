-- Part: the queue of a FAIR lock: a list of owners, and a score for each, which is the epoch ms until
-- which it counts as alive. The format is Redisson's. The clock is the server's.
--
-- When Redisson grants the lock to a waiter, it subtracts that waiter's wait time from all scores;
-- when a waiter gives up, from the scores after it. A score of latchkey is therefore: the time of
-- writing, plus the life of a place, plus the room, which is the sum of the wait times of Redisson's
-- waiters in front. Redisson gives a waiter the score of its predecessor plus its own wait time, so a
-- new waiter of latchkey computes its room from the predecessor's score. For that it must know when
-- the score, or the latchkey score that it was derived from, was written. The fraction of the ms, the
-- mark, contains this time in steps of 4 s modulo 2047 (2 h 16 min): Redisson adds whole ms and so
-- keeps the fraction. The score of a Redisson waiter that came to an empty queue has no mark. The last
-- bit of the fraction of a latchkey waiter says that it may be granted the lock for fair_grant_lease. One
-- that wants a fencing token may not: a score cannot tell that, and it takes the lock itself.

-- How long Redisson waiters may have waited before the first latchkey waiter came, in ms. Their
-- scores do not contain it.
local unseen = 1800000

-- How long a release grants the lock to the first waiter, in ms: it renews, and one that is frozen
-- keeps the others waiting no longer than this. A waiter that asks for less takes the lock itself.
local fair_grant_lease = 5000

-- The lock `{a}` has the queue of the lock `a`, as in Redisson, and an entry does not say which lock it
-- waits for. A release of `{a}` therefore grants nothing, and no waiter for it may be granted a lock:
-- they are notified, and take the lock themselves.
local function shares_queue(lock)
  return lock:find('^{[^{}]+}$')
end

-- A Redisson client that waits for ever writes a score near 2^63, or infinity: counts as this, which Lua
-- formats without an exponent, and to which it can add.
local farthest = 1e14
-- The room for one that waits longer than this, in ms: a year. More would not fit into the score.
local most_room = 31536000000

local function server_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- latchkey's ids are UUIDs of version 8, Redisson's are of version 4.
local function is_ours(owner)
  return owner:sub(15, 15) == '8'
end

-- The score of a waiter; nil: it has none.
local function score_of(timeouts, waiter)
  local score = tonumber(redis.call('ZSCORE', timeouts, waiter) or nil)
  return score and math.min(score, farthest)
end

local function marked(score, now, grantable)
  return math.floor(score) + (math.floor(now / 4000) % 2047 + 1) / 2048 + (grantable and 1 / 4096 or 0)
end

local function is_grantable(score)
  return score * 4096 % 2 == 1
end

-- When the score, or the one that it was derived from, was written, rounded down to 4 s; nil: it has
-- no mark.
local function written_at(score, now)
  local mark = math.floor(score % 1 * 2048)
  if mark == 0 then
    return nil
  end
  local step = math.floor(now / 4000)
  local age = (step % 2047 + 1 - mark + 32) % 2047 - 32 -- the clock may have been set back a little
  return (step - age) * 4000
end

-- The room of a score; nil: it has no mark.
local function room_of(score, now, life)
  local written = written_at(score, now)
  return written and math.min(math.max(0, math.floor(score) - written - life), most_room)
end

-- Whether a latchkey waiter has not called for the life of a place. The room in its score is for what
-- Redisson subtracts, and keeps no dead waiter alive. An age of more than an hour means that the clock
-- was set back.
local function is_dead(waiter, score, now)
  local written = is_ours(waiter) and written_at(score, now)
  return written and written + 15000 <= now and written + 3600000 > now
end

-- Whether a Redisson waiter waits no more: it listens to its channel for as long as it waits. In a
-- cluster with PUBLISH (2) it may listen at another node.
local function is_gone(waiter, channel, sharded)
  if is_ours(waiter) or sharded == '2' then
    return false
  end
  local heard = redis.pcall('PUBSUB', sharded == '1' and 'SHARDNUMSUB' or 'NUMSUB', channel .. ':' .. waiter)
  return heard[2] == 0
end

-- The fraction of the score of a Redisson waiter that was gone when it had to take the free lock.
local called_in_vain = 1 / 4096

-- Drops expired heads, as all scripts of Redisson do first, dead ones, and heads without a score, which
-- would never expire. The score goes first, because nobody looks for one without a place, and a place
-- without one is dropped. If a head was called in vain and is still gone after 2.5 s, its process has died, or
-- its connection: drops all waiters of that Redisson client that are gone, and early, because a script of
-- Redisson would drop the head alone. Returns the head and its score, or false.
local function live_head(queue, timeouts, now, channel, sharded)
  while true do
    local head = redis.call('LINDEX', queue, '0')
    if not head then
      return false
    end
    local score = score_of(timeouts, head) or 0
    if score > now and not is_dead(head, score, now) then
      if score % 1 ~= called_in_vain or score > now + 2500 or not is_gone(head, channel, sharded) then
        return head, score
      end
      local client = string.sub(head, 1, 36)
      for _, waiter in ipairs(redis.pcall('LRANGE', queue, '1', '200')) do
        local dies_too = string.sub(waiter, 1, 36) == client and is_gone(waiter, channel, sharded)
        if dies_too then
          redis.call('ZREM', timeouts, waiter)
          redis.pcall('LREM', queue, '1', waiter)
        end
      end
    end
    redis.call('ZREM', timeouts, head)
    redis.call('LPOP', queue)
  end
end

-- Limits the time in which the notified head must take the free lock: 5 s, or 15 s for a Redisson
-- waiter that listens. Waiters that are alive ask more often. Returns the head's new score.
local function cut_to_grace(timeouts, head, score, now, channel, sharded)
  local soon, ours = now + 5000, is_ours(head)
  if score <= soon then
    return score
  end
  local cut = now + 15000
  if ours then
    cut = marked(soon, now, is_grantable(score))
  elseif is_gone(head, channel, sharded) then
    cut = soon + called_in_vain
  elseif score <= cut then
    return score
  end
  -- The score of a Redisson waiter loses its mark, because its wait time is not known any more.
  redis.call('ZADD', timeouts, string.format('%.12f', cut), head)
  return math.floor(cut)
end

-- After a latchkey waiter has left the queue of a lock that is held for `left` ms more. If that is a
-- short time, the new head is notified, because its next call would come too late. Keys that only
-- Redisson waiters use get no TTL, as Redisson creates them.
local function head_left(queue, timeouts, left, channel, sharded)
  local head = redis.call('LINDEX', queue, '0')
  if not head then
    return
  end
  if left >= 0 and left < 5000 then
    publish(channel .. ':' .. head, '0', sharded)
  end
  if is_ours(head) or is_ours(redis.call('LINDEX', queue, '-1')) then
    return
  end
  for _, owner in ipairs(redis.call('LRANGE', queue, '0', '-1')) do
    if is_ours(owner) then
      return
    end
  end
  redis.pcall('PERSIST', queue)
  redis.pcall('PERSIST', timeouts)
end

-- Writes the hold of the head, a waiter of latchkey that listens, and notifies it. The message is
-- "number time 0": a waiter accepts no grant that is older than the last reply to its attempts, which
-- contains the time as well. Returns whether the head has the lock.
local function grant_head(lock, queue, timeouts, head, score, now, channel, sharded)
  local its_channel = channel .. ':' .. head
  if shares_queue(lock) or not is_ours(head) or not is_grantable(score) or
     not is_heard(its_channel, sharded) or redis.pcall('ZREM', timeouts, head) ~= 1 then
    return false
  end
  local message = head:match('%d+$') .. ' ' .. string.format('%.0f', now) .. ' 0'
  if redis.pcall('HSET', lock, head, '1') ~= 1 or redis.pcall('PEXPIRE', lock, fair_grant_lease) ~= 1 or
     publish(its_channel, message, sharded) == 0 then
    redis.pcall('HDEL', lock, head)
    redis.pcall('ZADD', timeouts, string.format('%.12f', score), head)
    local keep = redis.pcall('PTTL', queue) -- both have the same TTL, which the last score took along
    if type(keep) == 'number' and keep > 0 then
      redis.pcall('PEXPIRE', timeouts, keep)
    end
    return false
  end
  redis.pcall('LPOP', queue)
  head_left(queue, timeouts, fair_grant_lease, channel, sharded)
  return true
end

-- After a release: grants the lock to the head, or notifies it. If the queue is empty, the waiters
-- for a plain lock are next.
local function call_next(lock, queue, timeouts, channel, sharded)
  local now = server_ms()
  local head, score = live_head(queue, timeouts, now, channel, sharded)
  if head and grant_head(lock, queue, timeouts, head, score, now, channel, sharded) then
    return
  end
  if head then
    cut_to_grace(timeouts, head, score, now, channel, sharded)
    return publish(channel .. ':' .. head, '0', sharded)
  end
  local tag = channel:sub(#'redisson_lock__channel:' + 1)
  pass_on(lock, tag, '', notify(channel, '0', sharded), sharded)
end
