-- Part: tells those who wait. A server that forbids it loses them the notice, not us the release:
-- they find out by polling. Both commands are literal, since some servers refuse computed ones.
local function publish(channel, message, sharded)
  if sharded == '1' then
    redis.pcall('SPUBLISH', channel, message)
  else
    redis.pcall('PUBLISH', channel, message)
  end
end
