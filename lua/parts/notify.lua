-- Part: notifies those who wait for a lock on its channel, and returns how many connections are
-- subscribed to it. PUBLISH counts a connection with a pattern that matches, too: that of a tool which
-- shows or records messages, and never takes the lock.
local function subscribers_of(channel, notified, sharded)
  if notified == 0 or sharded == '1' then -- there are no patterns of sharded channels
    return notified
  end
  local subscribed = redis.pcall('PUBSUB', 'NUMSUB', channel)[2]
  return subscribed and math.min(subscribed, notified) or notified
end

local function notify(channel, message, sharded)
  return subscribers_of(channel, publish(channel, message, sharded), sharded)
end
