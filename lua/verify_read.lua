-- Checks whether an owner still holds its READ.
--
-- KEYS[1]  the lock
-- KEYS[2]  the key with this owner's lease
-- ARGV[1]  owner
--
-- Returns  0: it holds the lock
--          nil: it does not, or its lease ended while others went on reading
--
-- The lease does not change. The hash's TTL is restored if a Redisson reader's renewal has reduced it
-- below this lease. A replica rejects the script: see verify.lua.

--#include parts/ttl.lua
--#include parts/verify_read.lua

return verify_read(KEYS[1], KEYS[2], ARGV[1])
