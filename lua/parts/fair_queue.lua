-- Part: the queue of a FAIR lock: a list of owners, and a score for each, which is the epoch ms until
-- which it counts as alive. All of it is Redisson's; the clock is the server's.
local grace = 15000

local function server_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
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

-- The lock is free: its head has 15 s to come and take it. Whoever waits behind others had a longer
-- score, which a waiter that died must not block a free lock with. Returns the head's new score.
local function cut_to_grace(timeouts, head, score, now)
  if score <= now + grace then
    return score
  end
  redis.call('ZADD', timeouts, now + grace, head)
  return now + grace
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
