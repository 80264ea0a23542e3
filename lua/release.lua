-- Releases a REENTRANT or FENCED lock, and grants it to the process that waits the longest.
--
-- KEYS[1]  the lock
-- ARGV[1]  owner
-- ARGV[2]  tag: the lock's name, in braces unless it contains one
-- ARGV[3]  1: publish with SPUBLISH
--
-- Returns  number: it was held and this owner holds it no more; how many connections were notified
--                  that it is free (0: none, a process in the queue has it, or the server forbids it)
--          nil: this owner did not hold it; nothing changed
--
-- HDEL comes first: it works while the server is out of memory, and if PUBLISH is forbidden. A hash
-- without fields does not exist any more. Idempotent, because an owner is never used again.

local lock, tag = KEYS[1], ARGV[2]

if redis.call('HDEL', lock, ARGV[1]) == 0 then
  return false
end
local channel = 'redisson_lock__channel:' .. tag
local notified
if ARGV[3] == '1' then
  notified = redis.pcall('SPUBLISH', channel, '0')
else
  notified = redis.pcall('PUBLISH', channel, '0')
end
notified = type(notified) == 'number' and notified or 0
local queue = 'latchkey_process_queue:' .. tag .. (lock == tag and ':' or '')
if notified == 0 and redis.pcall('EXISTS', queue) == 0 then
  return 0
end

--#include parts/fencing_token.lua
--#include parts/publish.lua
--#include parts/notify.lua
--#include parts/place.lua
--#include parts/process_queue.lua

return pass_on(lock, tag, ARGV[1], subscribers_of(channel, notified, ARGV[3]), ARGV[3])
