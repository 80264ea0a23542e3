-- Lets a hold of a SET NX PX lock end earlier than its lease.
--
-- KEYS[1]  the lock
-- ARGV[1]  when it ends, ms from now
-- ARGV[2]  owner
--
-- Returns  0: it ends in that time or earlier
--          nil: this owner no longer holds
--
-- The holder is done, and the key stays locked for a while (hold_for): the server sees to its end,
-- for the holder's process may have ended by then. Works while the server is out of memory.

--#include parts/held_by.lua

if not held_by(KEYS[1], ARGV[2]) then
  return false
end
local left = redis.call('PTTL', KEYS[1])
local ends = tonumber(ARGV[1])
if left < 0 or left > ends then
  redis.call('PEXPIRE', KEYS[1], ends)
end
return 0
