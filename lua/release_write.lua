-- Releases a WRITE.
--
-- KEYS[1]  the lock
-- ARGV[1]  owner, followed by ":write"
-- ARGV[2]  channel of READ and WRITE
-- ARGV[3]  1: publish with SPUBLISH
--
-- Returns  number: it was held and is free; how many connections were notified (0: none, or the
--                  server forbids it)
--          nil: this owner did not hold it; nothing changed
--
-- Like release.lua. The message 1 wakes all readers of a Redisson client, 0 only one waiter.

if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then
  return false
end
redis.call('DEL', KEYS[1])
local notified
if ARGV[3] == '1' then
  notified = redis.pcall('SPUBLISH', ARGV[2], '1')
else
  notified = redis.pcall('PUBLISH', ARGV[2], '1')
end
return type(notified) == 'number' and notified or 0
