-- Checks whether an owner still holds a SET NX PX lock.
--
-- KEYS[1]  the lock
-- ARGV[1]  owner
--
-- Returns  0: it holds the lock
--          nil: it does not
--
-- A replica must not reply, because its data may be stale, and a server may become a replica at any
-- time.

--#include parts/held_by.lua
--#include parts/verify_value.lua

return verify(KEYS[1], ARGV[1])
