-- Ends every hold of a lock, whoever has it and of whatever type it is.
--
-- KEYS[1]  the lock
-- KEYS[2]  the queue of a FAIR lock
-- KEYS[3]  until when each waiter counts
-- ARGV[1]  tag: the lock's name, in braces where it has none
-- ARGV[2]  channel of plain locks; with ":owner" behind it, that of one waiter
-- ARGV[3]  channel of READ and WRITE
-- ARGV[4]  1: publish with SPUBLISH
--
-- Returns  0: it was held and is free
--          nil: nobody held it
--          an error where the key is a hash, but of something else than owners: that is not ours to
--          delete
--
-- Who waits is told as by a release. The queue stays: it is the next one's turn.

--#include parts/publish.lua
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
  -- It is free: what fails from here on costs those who wait a notice, and they poll.
  pcall(call_next, KEYS[2], KEYS[3], ARGV[2], ARGV[4])
  if redis.pcall('EXISTS', KEYS[2]) == 1 then -- the head was told; a plain lock may wait as well
    publish(ARGV[2], 0, ARGV[4])
  end
  return 0
end
for at = 1, #entries, 2 do
  for hold = 1, math.min(tonumber(entries[at + 1]) or 0, 16) do
    -- One that a cluster has moved away ends by itself.
    redis.pcall('DEL', ARGV[1] .. ':' .. entries[at] .. ':rwlock_timeout:' .. hold)
  end
end
publish(ARGV[3], mode == 'write' and 1 or 0, ARGV[4])
return 0
