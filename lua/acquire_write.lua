-- Takes a WRITE, or returns the holder and its remaining lease.
--
-- KEYS[1]  the lock
-- ARGV[1]  lease, ms
-- ARGV[2]  owner, followed by ":write"
-- ARGV[3]  tag: the lock's name, in braces if it has none
-- ARGV[4]  for how long to keep new READs out if READs hold the lock, ms; 0: not at all
--
-- Returns  0: granted
--          {ms, owner}: busy, for at most this time (-1: without end)
--
-- As acquire.lua, with a field for the mode. The hash of a plain lock has no mode, so the lock is
-- busy; Redisson's script would treat it as free. The script drops readers whose leases have ended:
-- the hash lives as long as the longest lease that any reader asked for. In a crowd it looks at a part
-- of the readers only; {1, owner} then asks for another attempt at once.

--#include parts/waiting_writer.lua

local function take()
  redis.call('HSET', KEYS[1], 'mode', 'write', ARGV[2], '1')
  if redis.pcall('PEXPIRE', KEYS[1], ARGV[1]) == 1 then
    redis.pcall('DEL', waiting_writer(ARGV[3]))
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
  local keep = tonumber(ARGV[4])
  if keep > kept_for_writer(ARGV[3]) then
    redis.pcall('SET', waiting_writer(ARGV[3]), ARGV[2], 'PX', keep)
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
