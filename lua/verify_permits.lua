-- Checks whether a hold of a semaphore still has all of its permits.
--
-- KEYS[1]  the semaphore
-- KEYS[2]  its permits that are taken
-- ARGV[1]  how many permits the hold has
-- ARGV[2]  id of the first of them
-- ARGV[3]  channel
-- ARGV[4]  1: publish with SPUBLISH
--
-- Returns  0: it has them
--          nil: it does not have all of them; what was left of it is available
--
-- A replica must not reply: see verify.lua.

--#include parts/publish.lua
--#include parts/permits.lua
--#include parts/hold_of_permits.lua
--#include parts/return_permits.lua
--#include parts/verify_permits.lua

local answer = verify_permits(KEYS[2], ARGV[2], tonumber(ARGV[1]))
if not answer then
  return_permits(KEYS[1], KEYS[2], ARGV[2], tonumber(ARGV[1]), ARGV[3], ARGV[4])
end
return answer
