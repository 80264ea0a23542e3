-- Counts a latch down by one. Redisson's countDown.
--
-- KEYS[1]  the latch
-- ARGV[1]  the channel of the latch
-- ARGV[2]  1: publish with SPUBLISH
--
-- Returns  the count that remains; 0 also if the latch had none
--
-- A latch that has no count stays so: nothing is written, and the count is never below zero. One
-- command writes: if the server forbids it, the latch is unchanged.

--#include parts/publish.lua

local count = redis.call('GET', KEYS[1])
if not count then
  return 0
end
count = tonumber(count)
if not count or count > 1 then -- DECR raises the error of what is no number
  return math.min(redis.call('DECR', KEYS[1]), 9007199254740992) -- see latch_count.lua
end
redis.call('DEL', KEYS[1])
if count == 1 then
  publish(ARGV[1], '0', ARGV[2])
end
return 0
