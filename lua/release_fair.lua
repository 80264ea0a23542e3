-- Gives a FAIR lock back and calls the next in the queue.
--
-- KEYS[1]  the lock
-- KEYS[2]  the queue
-- KEYS[3]  until when each waiter counts
-- ARGV[1]  owner
-- ARGV[2]  channel of plain locks; with ":owner" behind it, that of one waiter
-- ARGV[3]  1: publish with SPUBLISH
--
-- Returns  0: it was held and is free
--          nil: this owner did not hold it; nothing changed
--
-- Deletes first, as release.lua, and is a release from then on: what fails behind it costs those who
-- wait a notice, and they poll. Where nobody queues, those who wait for a plain lock of the name are
-- told.

if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then
  return false
end

--#include parts/publish.lua
--#include parts/fair_queue.lua

pcall(call_next, KEYS[2], KEYS[3], ARGV[2], ARGV[3])
return 0
