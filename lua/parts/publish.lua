-- Part: notifies waiters, and returns how many connections received it. If the server forbids it the
-- release still counts, and waiters poll. Both command names are literals, because some servers reject
-- computed names.
local function publish(channel, message, sharded)
  local notified
  if sharded == '1' then
    notified = redis.pcall('SPUBLISH', channel, message)
  else
    notified = redis.pcall('PUBLISH', channel, message)
  end
  return type(notified) == 'number' and notified or 0
end
