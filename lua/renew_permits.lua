-- Extends the lease of a hold of a semaphore.
--
-- KEYS[1]  the semaphore
-- KEYS[2]  its permits that are taken
-- ARGV[1]  lease from now, ms
-- ARGV[2]  how many permits the hold has
-- ARGV[3]  id of the first of them
-- ARGV[4]  channel
-- ARGV[5]  1: publish with SPUBLISH
--
-- Returns  0: the lease lasts at least that long
--          nil: the hold does not have all of its permits any more; what was left of it is available
--
-- A hold that has lost a permit is lost, and nobody releases it: see return_permits.lua.

--#include parts/publish.lua
--#include parts/permits.lua
--#include parts/hold_of_permits.lua
--#include parts/return_permits.lua
--#include parts/renew_permits.lua

local answer = renew_permits(KEYS[2], ARGV[3], tonumber(ARGV[2]), tonumber(ARGV[1]))
if not answer then
  return_permits(KEYS[1], KEYS[2], ARGV[3], tonumber(ARGV[2]), ARGV[4], ARGV[5])
end
return answer
