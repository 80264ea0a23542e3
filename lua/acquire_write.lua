-- Takes a WRITE, or says who is in the way and for how long.
--
-- KEYS[1]  the lock
-- ARGV[1]  lease, ms
-- ARGV[2]  owner with ":write" after it
-- ARGV[3]  tag: the lock's name, in braces if it has none
--
-- Returns  0: granted
--          {ms, owner}: busy, for no longer than that (-1: there is no end)
--
-- As acquire.lua, with the mode beside the owner. A plain lock's hash has no mode and is in the way,
-- where Redisson's script would take it for free. Readers whose leases have ended are dropped: they
-- would keep the lock for as long as the longest lease that any reader asked for. In a crowd only a
-- part is looked at, so that {1, owner} may ask for another attempt at once.

local function take()
  redis.call('HSET', KEYS[1], 'mode', 'write', ARGV[2], 1)
  if redis.pcall('PEXPIRE', KEYS[1], ARGV[1]) == 1 then
    return 0
  end
  redis.call('HDEL', KEYS[1], 'mode', ARGV[2])
  redis.call('PEXPIRE', KEYS[1], ARGV[1]) -- see acquire.lua
  return false
end

if redis.call('EXISTS', KEYS[1]) == 0 then
  return take()
end

--#include parts/holder.lua
--#include parts/dead_readers.lua

local left = redis.call('PTTL', KEYS[1])
if redis.call('HGET', KEYS[1], 'mode') == 'read' then
  local fields = redis.call('HLEN', KEYS[1])
  local dead, longest, all = dead_readers(KEYS[1], ARGV[3], ARGV[2])
  if fields - drop_readers(KEYS[1], dead) <= 1 then -- the mode
    redis.call('DEL', KEYS[1])
    return take()
  end
  if all and longest > 0 and longest < left then
    redis.call('PEXPIRE', KEYS[1], longest)
    left = longest
  elseif not all and #dead > 0 then
    left = 1
  end
  return {left, holder(KEYS[1])}
end
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
  return {left, holder(KEYS[1])}
end
if left < tonumber(ARGV[1]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
end
return 0
