-- Deletes a semaphore, whoever has permits of it.
--
-- KEYS[1]  the semaphore
-- KEYS[2]  its permits that are taken
-- ARGV[1]  channel
-- ARGV[2]  1: publish with SPUBLISH
--
-- Returns  0: it is deleted; nothing is left of it
--          nil: there was none
--
-- Who waits tries again, and makes it anew.

--#include parts/publish.lua
--#include parts/permits.lua

available_permits(KEYS[1]) -- an error: something else has the name
local deleted = redis.call('DEL', KEYS[1]) + redis.call('DEL', KEYS[2])
if deleted == 0 then
  return false
end
publish(ARGV[1], '1', ARGV[2])
return 0
