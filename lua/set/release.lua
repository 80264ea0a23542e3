-- Releases a SET NX PX lock: deletes the key if its value is the owner.
--
-- KEYS[1]  the lock
-- ARGV[1]  owner
-- ARGV[2]  channel
-- ARGV[3]  1: publish with SPUBLISH
--
-- Returns  number: it was held and is free; how many connections were notified (0: none, or the
--                  server forbids it)
--          nil: this owner did not hold it; nothing changed
--
-- DEL comes first: it works while the server is out of memory, and if PUBLISH is forbidden.
-- Idempotent, because an owner is never used again. Other libraries publish nothing.

--#include parts/held_by.lua
--#include parts/publish.lua
--#include parts/notify.lua

if not held_by(KEYS[1], ARGV[1]) then
  return false
end
redis.call('DEL', KEYS[1])
return notify(ARGV[2], '0', ARGV[3])
