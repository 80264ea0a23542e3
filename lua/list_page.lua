-- Lists locks and semaphores, one page of a given size: for a caller that limits what it costs the server.
--
-- ARGV[1]  cursor: 0 for the first page, then the one that the previous page returned
-- ARGV[2]  glob pattern of names
-- ARGV[3]  about how many keys to examine
--
-- Returns  {cursor of the next page or 0, number of all keys or 0, name...}
--
-- Otherwise as list.lua.

--#include parts/lock_hash.lua
--#include parts/semaphores_in_page.lua

local size = redis.pcall('DBSIZE')
local page = redis.call('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', ARGV[3], 'TYPE', 'hash')
local found = {page[1], type(size) == 'number' and size or 0}
for _, key in ipairs(page[2]) do
  if is_lock(key) then
    found[#found + 1] = key
  end
end
append_semaphores(found, ARGV[1], ARGV[2], ARGV[3])
return found
