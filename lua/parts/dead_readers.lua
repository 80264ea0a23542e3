-- Part: forgets readers whose leases have ended. The hash itself lives as long as the longest of all
-- leases, so a reader that died is a field of which no timeout key is left.
--
-- Looks at no more than 16 readers and the mode, from a random field on. Returns the longest lease
-- that is left of those in ms (-1: there are none), and whether those were all.
local function drop_dead_readers(lock, tag)
  local total = redis.call('HLEN', lock)
  local chance = tonumber(redis.call('TIME')[2])
  local entries = redis.call('HSCAN', lock, chance, 'COUNT', 17)[2]
  local count = #entries / 2
  local longest = -1
  for step = 0, math.min(count, 17) - 1 do
    local at = 2 * ((chance + step) % count) + 1
    local owner, holds = entries[at], tonumber(entries[at + 1])
    if owner ~= 'mode' then
      local left = -2
      if not holds or holds > 16 then -- no sane nesting: do not judge it
        left = redis.call('PTTL', lock)
      else
        for hold = 1, holds do
          local timeout = tag .. ':' .. owner .. ':rwlock_timeout:' .. hold
          left = math.max(left, redis.call('PTTL', timeout))
        end
      end
      if left == -2 then
        redis.call('HDEL', lock, owner)
      elseif left == -1 then -- somebody took the end away
        left = math.huge
      end
      longest = math.max(longest, left)
    end
  end
  return longest, total <= 17 and count == total
end
