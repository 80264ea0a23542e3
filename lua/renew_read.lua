-- Extends the lease of a READ.
--
-- KEYS[1]  the lock
-- KEYS[2]  the key with this owner's lease
-- ARGV[1]  lease from now, ms
-- ARGV[2]  owner
--
-- Returns  0: the lease lasts at least that long
--          nil: this owner does not hold it any more, or its lease ended while other readers held it
--
-- The hash lives as long as the longest lease. Redisson's renewal sets its TTL to 30 s, even if a
-- latchkey lease is longer. Works while the server is out of memory and always writes: see renew.lua.

--#include parts/ttl.lua
--#include parts/renew_read.lua

return renew_read(KEYS[1], KEYS[2], ARGV[2], ARGV[1])
