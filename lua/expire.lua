-- Lets any hold but a READ end earlier than its lease.
--
-- KEYS[1]  the lock
-- ARGV[1]  when it ends, ms from now
-- ARGV[2]  owner; for a WRITE with ":write" after it
--
-- Returns  0: it ends in that time or earlier
--          nil: this owner no longer holds
--
-- The holder is done, and the key stays locked for a while (hold_for): the server sees to its end,
-- for the holder's process may have ended by then. Works while the server is out of memory.

--#include parts/expire.lua

return expire(KEYS[1], ARGV[2], ARGV[1]) and 0
