-- Checks whether an owner still holds a lock of any type except READ.
--
-- KEYS[1]  the lock
-- ARGV[1]  owner; for a WRITE followed by ":write"
--
-- Returns  0: it holds the lock
--          nil: it does not
--
-- A replica must not reply, because its data may be stale, and a server may become a replica at any
-- time.

--#include parts/verify.lua

return verify(KEYS[1], ARGV[1])
