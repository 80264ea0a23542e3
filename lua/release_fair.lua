-- Releases a FAIR lock, and grants it to the first waiter in the queue or notifies it.
--
-- KEYS[1]  the lock
-- KEYS[2]  the queue
-- KEYS[3]  the time until which each waiter counts
-- ARGV[1]  owner
-- ARGV[2]  channel of plain locks; followed by ":owner": that of one waiter
-- ARGV[3]  1: publish with SPUBLISH; 2: with PUBLISH, in a cluster
--
-- Returns  0: it was held and is free
--          nil: this owner did not hold it; nothing changed
--
-- HDEL comes first, as in release.lua. If a later command fails, the lock is released all the same:
-- waiters are not notified, and poll. If the queue is empty, waiters for a plain lock of the same
-- name are notified.

if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then
  return false
end

--#include parts/publish.lua
--#include parts/notify.lua
--#include parts/fencing_token.lua
--#include parts/place.lua
--#include parts/process_queue.lua
--#include parts/fair_queue.lua

pcall(call_next, KEYS[1], KEYS[2], KEYS[3], ARGV[2], ARGV[3])
return 0
