-- Looks for locks, a page at a time.
--
-- ARGV[1]  cursor: 0 first, then what the last page returned
-- ARGV[2]  glob pattern of names
--
-- Returns  {cursor of the next page, 0 after the last; name...}
--
-- A lock is a hash whose fields are owners, in Redisson's shape `<uuid>:<number>`, and the mode: other
-- people's hashes are not listed. Names may come twice, as SCAN gives them.

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
