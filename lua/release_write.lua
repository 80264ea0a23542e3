-- Gives a WRITE back.
--
-- KEYS[1]  the lock
-- ARGV[1]  owner with ":write" behind it
-- ARGV[2]  channel of READ and WRITE
-- ARGV[3]  1: publish with SPUBLISH
--
-- Returns  0: it was held and is free
--          nil: this owner did not hold it; nothing changed
--
-- As release.lua. The message is 1: all readers may come, where 0 wakes one client's one waiter.

if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then
  return false
end
redis.call('DEL', KEYS[1])
if ARGV[3] == '1' then
  redis.pcall('SPUBLISH', ARGV[2], 1)
else
  redis.pcall('PUBLISH', ARGV[2], 1)
end
return 0
