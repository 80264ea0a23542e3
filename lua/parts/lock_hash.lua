-- Whether a hash is a lock: its fields are the mode and owners in Redisson's format
-- `<uuid>:<number>`. Of a large hash only some fields are examined.
local function is_lock(key)
  local entries = redis.call('HSCAN', key, '0', 'COUNT', '4')[2]
  for at = 1, #entries, 2 do
    if entries[at] ~= 'mode' and not entries[at]:find('^%x+%-%x+%-%x+%-%x+%-%x+:%-?%d') then
      return false
    end
  end
  return #entries > 0
end
