-- Whether a hash is a lock: its fields are the mode, and owners in Redisson's format
-- `<uuid>:<number>` with their counts. (The places of a process queue have owners, too, with more
-- than a number.) Of a large hash only some fields are examined.
local function is_lock(key)
  local entries = redis.call('HSCAN', key, '0', 'COUNT', '4')[2]
  for at = 1, #entries, 2 do
    local is_owner = entries[at]:find('^%x+%-%x+%-%x+%-%x+%-%x+:%-?%d')
    if entries[at] ~= 'mode' and not (is_owner and entries[at + 1]:find('^%-?%d+$')) then
      return false
    end
  end
  return #entries > 0
end
