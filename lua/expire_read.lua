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
-- See expire.lua.

--#include parts/ttl.lua
--#include parts/dead_readers.lua
--#include parts/expire_read.lua

return expire_read(KEYS[1], KEYS[2], ARGV[3], ARGV[2], ARGV[1], 0) and 0
