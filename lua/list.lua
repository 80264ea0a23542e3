-- Lists locks, one page per call.
--
-- ARGV[1]  cursor: 0 for the first page, then the one that the previous page returned
-- ARGV[2]  glob pattern of names
--
-- Returns  {cursor of the next page or 0, name...}
--
-- A lock is a hash whose fields are the mode and owners in Redisson's format `<uuid>:<number>`. Other
-- hashes are not listed. A name may occur twice, because SCAN may return it twice.

local page = redis.call('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', 256, 'TYPE', 'hash')
local found = {page[1]}
for _, key in ipairs(page[2]) do
  local entries = redis.call('HSCAN', key, 0, 'COUNT', 4)[2]
  local is_lock = #entries > 0
  for at = 1, #entries, 2 do
    is_lock = is_lock and
      (entries[at] == 'mode' or entries[at]:find('^%x+%-%x+%-%x+%-%x+%-%x+:%-?%d') ~= nil)
  end
  if is_lock then
    found[#found + 1] = key
  end
end
return found
