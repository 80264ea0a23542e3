-- Gives up whatever came of a FAIR acquire: the place in the queue, or the lock.
--
-- KEYS[1]  the lock
-- KEYS[2]  the queue
-- KEYS[3]  until when each waiter counts
-- ARGV[1]  owner
-- ARGV[2]  channel of plain locks; with ":owner" behind it, that of one waiter
-- ARGV[3]  1: publish with SPUBLISH
--
-- Returns  0: it had a place or the lock, and has neither any more
--          nil: it had neither; nothing changed
--
-- Where it was the first in the queue of a free lock, or of one whose lease is about to end, the next
-- one is told.

--#include parts/publish.lua
--#include parts/fair_queue.lua

local left = redis.call('PTTL', KEYS[1])
local first = redis.call('LINDEX', KEYS[2], 0) == ARGV[1]
local held = redis.call('HDEL', KEYS[1], ARGV[1]) == 1
local queued = redis.call('LREM', KEYS[2], 0, ARGV[1]) > 0
if redis.call('ZREM', KEYS[3], ARGV[1]) == 0 and not queued and not held then
  return false
end
-- It has left: what fails from here on costs the others a notice, and they poll.
if held or (first and left == -2) then
  pcall(call_next, KEYS[2], KEYS[3], ARGV[2], ARGV[3])
end
if queued then
  pcall(head_left, KEYS[2], KEYS[3], first and not held and left or -1, ARGV[2], ARGV[3])
end
return 0
