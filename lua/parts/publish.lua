-- Part: notifies waiters. If the server forbids it the release still counts, and waiters poll. Both
-- command names are literals, because some servers reject computed names.
local function publish(channel, message, sharded)
  if sharded == '1' then
    redis.pcall('SPUBLISH', channel, message)
  else
    redis.pcall('PUBLISH', channel, message)
  end
end
