-- Describes a lock. Changes nothing.
--
-- KEYS[1]  the lock
-- KEYS[2]  the queue of a FAIR lock
-- KEYS[3]  the time until which each waiter counts
-- KEYS[4]  the last fencing token
-- ARGV[1]  tag: the lock's name, in braces unless it contains one
-- ARGV[2]  channel of plain locks
-- ARGV[3]  channel of READ and WRITE
-- ARGV[4]  1: waiters subscribe with SSUBSCRIBE
--
-- Returns  {mode or '', token or '', holders, queue, subscribers, revoked}: holders is a flat list of owner,
--          count, ms left (-1: without end), note or ''; a writer's owner ends in ":write". Expired
--          readers and waiters are omitted, and so are READs inside a WRITE. subscribers is the
--          number of connections that listen for a release, -1: the server forbids to count them.
--          revoked: for each holder how many ms ago it was asked to release the lock, -1: it was not;
--          empty: none was.

--#include parts/dead_readers.lua
--#include parts/revocation.lua

local holders, queue, ids = {}, {}, {}
local mode = redis.call('HGET', KEYS[1], 'mode') or ''
local lease = redis.call('PTTL', KEYS[1])
local entries = redis.call('HGETALL', KEYS[1])
for at = 1, #entries, 2 do
  local owner, count, left = entries[at], entries[at + 1], lease
  if mode == 'read' and owner ~= 'mode' then
    left = reader_left(KEYS[1], ARGV[1], owner, tonumber(count))
  end
  local inner = mode == 'write' and not owner:find(':write', 1, true)
  if owner ~= 'mode' and left ~= -2 and not inner then
    holders[#holders + 1] = owner
    holders[#holders + 1] = tonumber(count) or 1
    holders[#holders + 1] = left
    local id = owner:gsub(':write$', '')
    ids[#ids + 1] = id
    local note = redis.pcall('GET', 'latchkey_holder:' .. ARGV[1] .. ':' .. id)
    holders[#holders + 1] = type(note) == 'string' and note or ''
  end
end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for _, owner in ipairs(redis.call('LRANGE', KEYS[2], '0', '-1')) do
  if tonumber(redis.call('ZSCORE', KEYS[3], owner) or 0) > now then
    queue[#queue + 1] = owner
  end
end

local own_names = ARGV[1] .. (KEYS[1] == ARGV[1] and ':' or '')
-- The processes in the queue have channels of their own. Others listen to both channels; those of
-- FAIR, and Redisson's, to one of them.
local listening
if ARGV[4] == '1' then
  listening = redis.pcall('PUBSUB', 'SHARDNUMSUB', ARGV[2], ARGV[3])
else
  listening = redis.pcall('PUBSUB', 'NUMSUB', ARGV[2], ARGV[3])
end
local subscribers = -1
if not listening.err then
  local waiting = redis.pcall('ZCARD', 'latchkey_process_queue:' .. own_names)
  waiting = type(waiting) == 'number' and waiting or 0
  subscribers = math.max(tonumber(listening[2]), tonumber(listening[4]), waiting)
end
local revoked = revoked_ago('latchkey_revoke:' .. own_names, ids, now)
return {mode, redis.call('GET', KEYS[4]) or '', holders, queue, subscribers, revoked}
