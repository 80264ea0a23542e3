-- Lets the permits of a hold end earlier than their lease.
--
-- KEYS[1]  the semaphore
-- KEYS[2]  its permits that are taken
-- ARGV[1]  when they end, ms from now
-- ARGV[2]  how many permits the hold has
-- ARGV[3]  id of the first of them
--
-- Returns  0: they end in that time or earlier
--          nil: the hold does not have all of them any more
--
-- Whoever waits for a permit knows when the next lease ends, and asks then.

--#include parts/permits.lua
--#include parts/hold_of_permits.lua

local now, count = server_ms(), tonumber(ARGV[2])
redis.call('ZREM', KEYS[2], '') -- see renew_permits.lua
local ends = end_of_hold(KEYS[2], ARGV[3], count, now)
if not ends then
  return false
end
set_end(KEYS[2], ARGV[3], count, math.min(ends, now + ARGV[1]), 'XX')
return 0
