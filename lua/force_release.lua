-- Ends every hold of a lock of any type.
--
-- KEYS[1]  the lock
-- KEYS[2]  the queue of a FAIR lock
-- KEYS[3]  the time until which each waiter counts
-- ARGV[1]  tag: the lock's name, in braces unless it contains one
-- ARGV[2]  channel of plain locks; followed by ":owner": that of one waiter
-- ARGV[3]  channel of READ and WRITE
-- ARGV[4]  1: publish with SPUBLISH; 2: with PUBLISH, in a cluster
--
-- Returns  0: it was held and is free
--          nil: it was not held
--          an error: the key is a hash whose fields are not owners, so it is not deleted
--
-- Waiters are notified as by a release. The queue stays, and its first waiter is next.

--#include parts/publish.lua
--#include parts/notify.lua
--#include parts/publish_to_all.lua
--#include parts/fencing_token.lua
--#include parts/place.lua
--#include parts/process_queue.lua
--#include parts/fair_queue.lua

local entries = redis.call('HGETALL', KEYS[1])
if #entries == 0 then
  return false
end
local mode
for at = 1, #entries, 2 do
  if entries[at] == 'mode' then
    mode = entries[at + 1]
  elseif not tonumber(entries[at + 1]) then
    return redis.error_reply('ERR the hash is no lock: its field ' .. entries[at] .. ' counts nothing')
  end
end
redis.call('DEL', KEYS[1])
if not mode then
  -- The lock is free. If a command fails from here on, waiters are not notified, and poll.
  pcall(call_next, KEYS[1], KEYS[2], KEYS[3], ARGV[2], ARGV[4])
  if redis.pcall('EXISTS', KEYS[2]) == 1 then -- waiters for a plain lock, too
    publish(ARGV[2], '0', ARGV[4])
  end
  return 0
end
for at = 1, #entries, 2 do
  for hold = 1, math.min(tonumber(entries[at + 1]) or 0, 16) do
    -- A key that the cluster has moved to another node expires there.
    redis.pcall('DEL', ARGV[1] .. ':' .. entries[at] .. ':rwlock_timeout:' .. hold)
  end
end
local notified
if mode == 'write' then
  notified = publish_to_all(ARGV[3], ARGV[4])
else
  notified = notify(ARGV[3], '0', ARGV[4])
end
pass_on(KEYS[1], ARGV[1], '', notified, ARGV[4])
return 0
