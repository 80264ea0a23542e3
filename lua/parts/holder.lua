-- Part: names one owner of a lock, for messages.
local function holder(lock)
  local entries = redis.call('HSCAN', lock, '0', 'COUNT', '8')[2]
  for at = 1, #entries, 2 do
    if entries[at] ~= 'mode' then
      return entries[at]
    end
  end
  return ''
end
