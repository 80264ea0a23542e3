-- Releases the permits of a hold of a semaphore.
--
-- KEYS[1]  the semaphore
-- KEYS[2]  its permits that are taken
-- ARGV[1]  how many permits the hold has
-- ARGV[2]  id of the first of them
-- ARGV[3]  channel
-- ARGV[4]  1: publish with SPUBLISH
--
-- Returns  number: they were held and are available; how many connections were notified
--          nil: the hold did not have all of them any more, or its lease had ended; what was left of it
--          is available
--
-- Works while the server is out of memory. Idempotent, because a permit's id is never used again.

--#include parts/publish.lua
--#include parts/permits.lua
--#include parts/hold_of_permits.lua
--#include parts/return_permits.lua

local count = tonumber(ARGV[1])
local held = end_of_hold(KEYS[2], ARGV[2], count, server_ms())
local _, notified = return_permits(KEYS[1], KEYS[2], ARGV[2], count, ARGV[3], ARGV[4])
return held and notified
