-- Takes a REENTRANT lock, or returns the holder and its remaining lease.
--
-- KEYS[1]  the lock
-- ARGV[1]  lease, ms
-- ARGV[2]  owner
-- ARGV[3]  tag: the lock's name, in braces unless it contains one
-- ARGV[4]  1: if busy, take a place in the process queue
-- ARGV[5]  1: publish with SPUBLISH
--
-- Returns  0: granted
--          {ms, owner, place, near}: busy, for at most this time (-1: without end); place: the number
--          of the place in the process queue, 0: none; near: 1: it is one of the first two
--
-- Idempotent: the hold count is set and never increased, because the holder repeats the call if the
-- reply was lost. The lease starts anew and never ends earlier than before.
-- Any other value under the name makes the lock busy, also a READ or WRITE.

local lock, owner, tag = KEYS[1], ARGV[2], ARGV[3]

local function take()
  redis.call('HSET', lock, owner, '1')
  if redis.pcall('PEXPIRE', lock, ARGV[1]) == 1 then
    return 0
  end
  -- Without a TTL the key would block for ever. The second call fails again and reports why.
  redis.call('HDEL', lock, owner)
  redis.call('PEXPIRE', lock, ARGV[1])
  return false
end

local queue = 'latchkey_process_queue:' .. tag .. (lock == tag and ':' or '')
local existing = redis.pcall('EXISTS', lock, queue)
if existing == 0 then
  return take()
end

--#include parts/holder.lua
--#include parts/place.lua

-- Most attempts are those of processes that wait: they need no more functions than these.
if existing == 2 and redis.call('HEXISTS', lock, owner) == 0 then
  local place = ARGV[4] ~= '1' and 0 or keep_place(queue, owner, ARGV[1], '0')
  if place then
    return {redis.call('PTTL', lock), holder(lock), place, is_near_front(queue, owner, place)}
  end
end

--#include parts/fencing_token.lua
--#include parts/publish.lua
--#include parts/process_queue.lua

if redis.call('EXISTS', lock) == 0 and not grant_first(lock, tag, ARGV[5], owner) then
  local taken = take()
  leave_process_queue(lock, tag, owner)
  return taken
end
local left = redis.call('PTTL', lock)
if redis.call('HEXISTS', lock, owner) == 0 or redis.call('HEXISTS', lock, 'mode') == 1 then
  local place = ARGV[4] == '1' and take_place(lock, tag, owner, ARGV[1], '0', ARGV[5]) or 0
  return {left, holder(lock), place, is_near_front(queue, owner, place)}
end
if left < tonumber(ARGV[1]) then
  redis.call('PEXPIRE', lock, ARGV[1])
end
return 0
