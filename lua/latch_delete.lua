-- Deletes a latch and its count.
--
-- KEYS[1]  the latch
-- ARGV[1]  the channel of the latch
-- ARGV[2]  1: publish with SPUBLISH
--
-- Returns  0: it is deleted
--          nil: it had no count
--          an error: the value is no count, so it is not deleted

--#include parts/publish.lua

local count = redis.call('GET', KEYS[1])
if not count then
  return false
end
if not count:find('^%d+$') then
  return redis.error_reply('WRONGTYPE no count')
end
redis.call('DEL', KEYS[1])
publish(ARGV[1], '1', ARGV[2])
return 0
