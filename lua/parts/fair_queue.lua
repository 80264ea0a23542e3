-- Part: the queue of a FAIR lock: a list of owners, and a score for each, which is the epoch ms until
-- which it counts as alive. All of it is Redisson's; the clock is the server's.
--
-- When a Java waiter is granted (or gives up), Redisson takes the wait that its caller asked for off
-- all scores (behind it). So a score of ours is: when it was written, plus the life of a place, plus
-- its room, the sum of the waits of the Java waiters in front. Redisson gives a waiter the score of
-- its predecessor plus its own wait; so who comes next reads its room off the predecessor's score,
-- if it knows when that score was written, or the one of ours that it builds upon. The fraction of
-- the ms says so, in steps of 4 s modulo 2047 (2 h 16 min): Redisson only adds whole ms and hands the
-- fraction on. The score of a Java waiter that came to an empty queue has none.

-- How long the first of a row of Java waiters may have waited before the first of ours came; its
-- score does not tell.
local unseen = 1800000

local function server_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- latchkey's ids are UUIDs of version 8, Redisson's of version 4.
local function is_ours(owner)
  return owner:sub(15, 15) == '8'
end

local function marked(score, now)
  return math.floor(score) + (math.floor(now / 4000) % 2047 + 1) / 2048
end

-- The room that a score has, or nothing where it has no mark.
local function room_of(score, now, life)
  local mark = score % 1 * 2048
  if mark == 0 then
    return nil
  end
  local step = math.floor(now / 4000)
  local age = (step % 2047 + 1 - mark + 32) % 2047 - 32 -- the clock may have gone back a little
  return math.max(0, math.floor(score) - (step - age) * 4000 - life)
end

-- Drops heads whose time is over, as every script of Redisson's does first, and those without a
-- score, who would never be dropped. Returns the head or false, and its score.
local function live_head(queue, timeouts, now)
  while true do
    local head = redis.call('LINDEX', queue, 0)
    if not head then
      return false
    end
    local score = tonumber(redis.call('ZSCORE', timeouts, head) or 0)
    if score > now then
      return head, score
    end
    redis.call('LPOP', queue)
    redis.call('ZREM', timeouts, head)
  end
end

-- The lock is free and its head was told: it has 5 s to come and take it, a Java waiter 15 s. Whoever
-- is alive asks more often. Returns the head's new score.
local function cut_to_grace(timeouts, head, score, now)
  local ours = is_ours(head)
  local grace = now + (ours and 5000 or 15000)
  if score <= grace then
    return score
  end
  -- A Java waiter's score loses its mark: how much will be taken off for it can no longer be seen.
  redis.call('ZADD', timeouts, ours and marked(grace, now) or grace, head)
  return grace
end

-- The lock came free: tells the head alone, or all who wait for a plain lock where nobody queues.
local function call_next(queue, timeouts, channel, sharded)
  if redis.call('EXISTS', queue) == 1 then
    local now = server_ms()
    local head, score = live_head(queue, timeouts, now)
    if head then
      cut_to_grace(timeouts, head, score, now)
      channel = channel .. ':' .. head
    end
  end
  publish(channel, 0, sharded)
end

-- One of ours has left the queue, and the lock is held for `left` ms more. Where that is short, the
-- new head would hear of it too late by asking at its usual pace. Keys that only Java waiters use are
-- as Redisson makes them: without an end.
local function head_left(queue, timeouts, left, channel, sharded)
  local head = redis.call('LINDEX', queue, 0)
  if not head then
    return
  end
  if left >= 0 and left < 5000 then
    publish(channel .. ':' .. head, 0, sharded)
  end
  if is_ours(head) or is_ours(redis.call('LINDEX', queue, -1)) then
    return
  end
  for _, owner in ipairs(redis.call('LRANGE', queue, 0, -1)) do
    if is_ours(owner) then
      return
    end
  end
  redis.pcall('PERSIST', queue)
  redis.pcall('PERSIST', timeouts)
end
