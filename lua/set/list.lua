-- Lists SET NX PX locks, one page per call.
--
-- ARGV[1]  cursor: 0 for the first page, then the one that the previous page returned
-- ARGV[2]  glob pattern of names
--
-- Returns  {cursor of the next page or 0, name...}
--
-- Strings that do not look like locks are not listed. A name may occur twice, because SCAN may
-- return it twice.

--#include parts/lock_string.lua

local page = redis.call('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', '256', 'TYPE', 'string')
local found = {page[1]}
for _, key in ipairs(page[2]) do
  if is_lock(key) then
    found[#found + 1] = key
  end
end
return found
