-- Lists locks, and semaphores with permits that are taken, one page per call.
--
-- ARGV[1]  cursor: 0 for the first page, then the one that the previous page returned
-- ARGV[2]  glob pattern of names
--
-- Returns  {cursor of the next page or 0, name...}
--
-- Hashes and sorted sets that are no locks are not listed. A name may occur twice, because SCAN may return it twice.

--#include parts/lock_hash.lua
--#include parts/semaphores_in_page.lua

local page = redis.call('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', '256', 'TYPE', 'hash')
local found = {page[1]}
for _, key in ipairs(page[2]) do
  if is_lock(key) then
    found[#found + 1] = key
  end
end
append_semaphores(found, ARGV[1], ARGV[2], '256')
return found
