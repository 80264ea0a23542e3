-- Takes a FENCED lock with tokens larger than any before, or returns the holder and its remaining
-- lease.
--
-- KEYS[1]  the lock
-- KEYS[2]  the last token given for it
-- ARGV[1]  lease, ms
-- ARGV[2]  owner
-- ARGV[3]  how many tokens to reserve
-- ARGV[4]  tag: the lock's name, in braces unless it contains one
-- ARGV[5]  1: if busy, take a place in the process queue
-- ARGV[6]  1: publish with SPUBLISH
--
-- Returns  token: granted, the last of those reserved; 1 or more
--          {ms, owner, place, near}: as in acquire.lua
--
local lock, owner, tag = KEYS[1], ARGV[2], ARGV[4]

--#include parts/fencing_token.lua

local function take()
  local token = new_token(KEYS[2], tonumber(ARGV[3]))
  if type(token) ~= 'number' then
    return token
  end
  redis.call('HSET', lock, owner, '1')
  if redis.pcall('PEXPIRE', lock, ARGV[1]) ~= 1 then
    redis.call('HDEL', lock, owner)
    redis.call('PEXPIRE', lock, ARGV[1]) -- see acquire.lua
    return false
  end
  return token
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
  local place = ARGV[5] ~= '1' and 0 or keep_place(queue, owner, ARGV[1], ARGV[3])
  if place then
    return {redis.call('PTTL', lock), holder(lock), place, is_near_front(queue, owner, place)}
  end
end

--#include parts/publish.lua
--#include parts/process_queue.lua

if redis.call('EXISTS', lock) == 0 and not grant_first(lock, tag, ARGV[6], owner) then
  local taken = take()
  leave_process_queue(lock, tag, owner)
  return taken
end
local left = redis.call('PTTL', lock)
if redis.call('HEXISTS', lock, owner) == 0 or redis.call('HEXISTS', lock, 'mode') == 1 then
  local place = ARGV[5] == '1' and take_place(lock, tag, owner, ARGV[1], ARGV[3], ARGV[6]) or 0
  return {left, holder(lock), place, is_near_front(queue, owner, place)}
end
local token = same_token(KEYS[2], tonumber(ARGV[3]))
if left < tonumber(ARGV[1]) then
  redis.call('PEXPIRE', lock, ARGV[1])
end
return token
