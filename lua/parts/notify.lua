-- Part: notifies those who wait for a lock on its channel, and returns how many connections are
-- subscribed to it and wait for nothing else. PUBLISH counts two more kinds. A connection with a
-- pattern that matches is that of a tool which shows or records messages, and never takes the lock. A
-- process in the process queue subscribes to `channel:in_line`, too: the queue serves it.
local function subscribers_of(channel, notified, sharded)
  if notified == 0 then
    return 0
  end
  local question = sharded == '1' and 'SHARDNUMSUB' or 'NUMSUB'
  local numbers = redis.pcall('PUBSUB', question, channel, channel .. ':in_line')
  return numbers[4] and math.max(math.min(numbers[2], notified) - numbers[4], 0) or notified
end

local function notify(channel, message, sharded)
  return subscribers_of(channel, publish(channel, message, sharded), sharded)
end
