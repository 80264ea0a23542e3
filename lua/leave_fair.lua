-- Undoes a FAIR acquire whose result is unknown: leaves the queue, or releases the lock.
--
-- KEYS[1]  the lock
-- KEYS[2]  the queue
-- KEYS[3]  the time until which each waiter counts
-- ARGV[1]  owner
-- ARGV[2]  channel of plain locks; followed by ":owner": that of one waiter
-- ARGV[3]  1: publish with SPUBLISH; 2: with PUBLISH, in a cluster
--
-- Returns  0: the owner had a place or the lock, and has neither any more
--          nil: the owner had neither; nothing changed
--
-- The next waiter is notified if the owner was the first in the queue, and the lock is free or its
-- lease is about to end.

--#include parts/publish.lua
--#include parts/notify.lua
--#include parts/fencing_token.lua
--#include parts/place.lua
--#include parts/process_queue.lua
--#include parts/fair_queue.lua

local left = redis.call('PTTL', KEYS[1])
local first = redis.call('LINDEX', KEYS[2], '0') == ARGV[1]
local held = redis.call('HDEL', KEYS[1], ARGV[1]) == 1
local scored = redis.call('ZREM', KEYS[3], ARGV[1]) == 1 -- first: see parts/fair_queue.lua
local queued = redis.call('LREM', KEYS[2], '0', ARGV[1]) > 0
if not scored and not queued and not held then
  return false
end
-- The owner has left. If a command fails from here on, waiters are not notified, and poll.
if held or (first and left == -2) then
  pcall(call_next, KEYS[1], KEYS[2], KEYS[3], ARGV[2], ARGV[3])
end
if queued then
  pcall(head_left, KEYS[2], KEYS[3], first and not held and left or -1, ARGV[2], ARGV[3])
end
return 0
