-- Lets a READ end earlier than its lease.
--
-- KEYS[1]  the lock
-- KEYS[2]  this owner's timeout
-- ARGV[1]  when it ends, ms from now
-- ARGV[2]  owner
-- ARGV[3]  tag: the lock's name, in braces if it has none
--
-- Returns  0: it ends in that time or earlier
--          nil: this owner no longer holds, or its lease ended while others went on reading
--
-- The hash is shortened to the longest lease that is left. In a crowd, of which only a part is
-- looked at, it stays. See expire.lua.

--#include parts/ttl.lua
--#include parts/dead_readers.lua

local own = redis.call('PTTL', KEYS[2])
if own == -2 or redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
  return false
end
local ends = tonumber(ARGV[1])
local _, longest, all = dead_readers(KEYS[1], ARGV[3], ARGV[2])
local left = ttl(KEYS[1])
if own < 0 or own > ends then
  redis.call('PEXPIRE', KEYS[2], ends)
end
longest = math.max(longest, ends)
if all and longest < left then
  redis.call('PEXPIRE', KEYS[1], longest)
end
return 0
