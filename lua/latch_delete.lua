-- Deletes a latch and its count.
--
-- KEYS[1]  the latch
-- ARGV[1]  the channel of the latch
-- ARGV[2]  1: publish with SPUBLISH
--
-- Returns  0: it is deleted
--          nil: it had no count

--#include parts/publish.lua

if not redis.call('GET', KEYS[1]) then
  return false
end
redis.call('DEL', KEYS[1])
publish(ARGV[1], '1', ARGV[2])
return 0
