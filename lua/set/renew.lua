-- Extends the lease of a SET NX PX lock.
--
-- KEYS[1]  the lock
-- ARGV[1]  lease from now, ms
-- ARGV[2]  owner
--
-- Returns  0: the lease lasts at least that long
--          nil: this owner does not hold it any more
--
-- Works while the server is out of memory. Always writes, so that a replica never confirms a hold.

--#include parts/held_by.lua
--#include parts/ttl.lua
--#include parts/renew_value.lua

return renew(KEYS[1], ARGV[2], ARGV[1])
