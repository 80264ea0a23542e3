-- Part: the note of the last revocation of a key that somebody heard. It is "ms id id ...": the time of the
-- server's clock, and who held the key then. It lasts as long as their leases would have, so that a holder
-- whose id is used again, as Redisson's are, is not taken for the one that was asked.
--
-- The note has the name of the channel. It is not among KEYS, so that a user that may not write it can
-- publish the message all the same; then nobody sees later that the holders were asked.

-- How many ms ago each of these holders was asked, -1: it was not. Empty: none of them.
local function revoked_ago(note, ids, now)
  local text = redis.pcall('GET', note)
  local at = type(text) == 'string' and tonumber(text:match('^%d+'))
  if not at then
    return {}
  end
  local asked, ago = {}, {}
  for id in text:gmatch(' (%S+)') do
    asked[id] = true
  end
  for place, id in ipairs(ids) do
    ago[place] = asked[id] and math.max(now - at, 0) or -1
  end
  return ago
end

-- A permit's id is 16 raw bytes.
local function hexadecimal(id)
  return (id:gsub('.', function(byte)
    return string.format('%02x', byte:byte())
  end))
end
