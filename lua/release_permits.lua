-- Releases the permits of a hold of a semaphore, or leaves the queue for them.
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
local queue = 'latchkey_permit_queue:' .. KEYS[2]:sub(1, -#':timeout' - 1)
local blocked_others = false
if redis.pcall('EXISTS', queue) == 1 then -- a late copy of its acquire may have taken a place, too
  --#include parts/permit_queue.lua
  local last = redis.pcall('ZRANGE', queue, '-1', '-1')
  blocked_others = leave_place(queue, ARGV[2]) and last[1] ~= ARGV[2]
end
local held = end_of_hold(KEYS[2], ARGV[2], count, server_ms())
local returned, notified = return_permits(KEYS[1], KEYS[2], ARGV[2], count, ARGV[3], ARGV[4])
if blocked_others and returned == 0 then
  local available = available_permits(KEYS[1]) or 0
  if available > 0 then -- those who waited for this place have not been told
    publish(ARGV[3], string.format('%.0f', available), ARGV[4])
  end
end
return held and notified
