-- Changes how many permits a semaphore has, or makes one.
--
-- KEYS[1]  the semaphore
-- KEYS[2]  its permits that are taken
-- ARGV[1]  how many permits it has from now on
-- ARGV[2]  channel
-- ARGV[3]  1: publish with SPUBLISH
--
-- Returns  0
--
-- Fewer than are taken: none is taken away, and none is granted until enough are released. The number
-- that are available is negative until then, as Redisson has it.

--#include parts/publish.lua
--#include parts/permits.lua

local available = available_permits(KEYS[1]) or 0
local taken = redis.call('ZCARD', KEYS[2])
redis.call('INCRBY', KEYS[1], string.format('%.0f', ARGV[1] - taken - available))
if ARGV[1] - taken > 0 then
  publish(ARGV[2], string.format('%.0f', ARGV[1] - taken), ARGV[3])
end
return 0
