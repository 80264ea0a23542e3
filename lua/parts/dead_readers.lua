-- Part: finds the readers whose leases have ended. Reads only.
--
-- The hash lives as long as the longest lease, so a dead reader is a field without a timeout key. A
-- reader is dead if its timeouts are missing and this node is known to have every key of the slot.
-- While a cluster moves the slot, a missing key may be on the other node. A command with several
-- keys, one of which is missing, tells the two apart: it gives a number on a node that has the whole
-- slot and an error (TRYAGAIN or ASK) on a node that does not. A reader of which nothing is known
-- counts for as long as the hash lives.
local slot_is_whole -- nil: not known yet

-- The remaining lease of a reader in ms; -2: the reader is dead, -1: its lease has no end.
local function reader_left(lock, tag, owner, holds)
  if not holds or holds > 16 then -- not a plausible count: assume that the reader is alive
    return redis.call('PTTL', lock)
  end
  local prefix = tag .. ':' .. owner .. ':rwlock_timeout:'
  local left, missing = -2, nil
  for hold = 1, holds do
    local its = redis.pcall('PTTL', prefix .. hold) -- may fail while the slot moves
    if type(its) == 'number' and its ~= -2 then
      left = math.max(left, its)
    else
      missing = prefix .. hold
    end
  end
  if missing and slot_is_whole == nil then
    slot_is_whole = type(redis.pcall('EXISTS', lock, missing)) == 'number'
  end
  if missing and not slot_is_whole then
    return redis.call('PTTL', lock)
  end
  return left
end

-- Checks at most 16 other readers, from a random field on. Returns the owners of the dead ones, the
-- longest remaining lease of the others in ms (-1: there are none), and whether all were checked.
local function dead_readers(lock, tag, own)
  local total = redis.call('HLEN', lock)
  local chance = tonumber(redis.call('TIME')[2])
  local entries = redis.call('HSCAN', lock, chance, 'COUNT', '18')[2]
  local count = #entries / 2
  local dead, longest = {}, -1
  for step = 0, math.min(count, 18) - 1 do
    local at = 2 * ((chance + step) % count) + 1
    local owner = entries[at]
    if owner ~= 'mode' and owner ~= own then
      local left = reader_left(lock, tag, owner, tonumber(entries[at + 1]))
      if left == -2 then
        dead[#dead + 1] = owner
      else -- -1: a client has removed the TTL; 0: it ends within this millisecond
        longest = math.max(longest, left == -1 and math.huge or left, 1)
      end
    end
  end
  return dead, longest, total <= 18 and count == total
end

local function drop_readers(lock, dead)
  return #dead > 0 and redis.call('HDEL', lock, unpack(dead)) or 0
end
