-- Part: whether a string is a SET NX PX lock: it has a TTL, and its value is an owner in one of the
-- usual formats: latchkey's hold id, redlock-py's 22 letters and digits, 16 bytes in base64
-- (redsync), a UUID in 32 digits (redis-py). A long value is not read.
local formats = {
  '^%x+%-%x+%-%x+%-%x+%-%x+:%d+$',
  '^' .. ('%w'):rep(22) .. '$',
  '^' .. ('[%w+/]'):rep(22) .. '==$',
  '^' .. ('%x'):rep(32) .. '$',
}
local function is_lock(key)
  if key:find('latchkey_holder:', 1, true) == 1 or redis.call('STRLEN', key) > 57
      or redis.call('PTTL', key) < 0 then
    return false
  end
  local value = redis.call('GET', key) or ''
  for _, format in ipairs(formats) do
    if value:find(format) then
      return true
    end
  end
  return false
end
