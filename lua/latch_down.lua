-- Counts a latch down by one. Redisson's countDown.
--
-- KEYS[1]  the latch
-- ARGV[1]  the channel of the latch
-- ARGV[2]  1: publish with SPUBLISH
--
-- Returns  the count that remains; 0 also if the latch had none
--
-- A latch that has no count stays so: nothing is written, and the count is never below zero.

--#include parts/publish.lua

if not redis.call('GET', KEYS[1]) then
  return 0
end
local left = redis.call('DECR', KEYS[1])
if left <= 0 then
  redis.call('DEL', KEYS[1])
  if left == 0 then
    publish(ARGV[1], '0', ARGV[2])
  end
  return 0
end
return left
