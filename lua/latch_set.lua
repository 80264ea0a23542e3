-- Gives a latch its count, unless it has one. Redisson's trySetCount.
--
-- KEYS[1]  the latch
-- ARGV[1]  the count
-- ARGV[2]  the channel of the latch
-- ARGV[3]  1: publish with SPUBLISH
--
-- Returns  the count: it is set
--          nil: the latch has a count

--#include parts/publish.lua

if redis.call('EXISTS', KEYS[1]) == 1 then
  redis.call('GET', KEYS[1]) -- another value than a latch is an error
  return false
end
redis.call('SET', KEYS[1], ARGV[1])
publish(ARGV[2], '1', ARGV[3])
return tonumber(ARGV[1])
