-- Releases a WRITE, and grants the lock to the process that waits the longest.
--
-- KEYS[1]  the lock
-- ARGV[1]  owner, followed by ":write"
-- ARGV[2]  tag: the lock's name, in braces unless it contains one
-- ARGV[3]  1: publish with SPUBLISH
--
-- Returns  as release.lua
--
-- Like release.lua. The message 1 wakes all readers of a Redisson client, 0 only one waiter.

--#include parts/publish.lua
--#include parts/notify.lua
--#include parts/publish_to_all.lua

local lock, tag = KEYS[1], ARGV[2]

if redis.call('HDEL', lock, ARGV[1]) == 0 then
  return false
end
redis.call('DEL', lock)
local notified = publish_to_all('redisson_rwlock:' .. tag, ARGV[3])
local queue = 'latchkey_process_queue:' .. tag .. (lock == tag and ':' or '')
if redis.pcall('EXISTS', queue) == 0 then
  return notified
end

--#include parts/fencing_token.lua
--#include parts/place.lua
--#include parts/process_queue.lua

return pass_on(lock, tag, ARGV[1], notified, ARGV[3])
