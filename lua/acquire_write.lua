-- Takes a WRITE, or returns the holder and its remaining lease.
--
-- KEYS[1]  the lock
-- KEYS[2]  with a fencing token: the last token given for it
-- ARGV[1]  lease, ms
-- ARGV[2]  owner, followed by ":write"
-- ARGV[3]  tag: the lock's name, in braces unless it contains one
-- ARGV[4]  for how long to keep new READs out if READs hold the lock, ms; 0: not at all
-- ARGV[5]  1: if busy, take a place in the process queue
-- ARGV[6]  1: publish with SPUBLISH
-- ARGV[7]  with a fencing token: how many to reserve
--
-- Returns  0: granted
--          token: granted, the last of those reserved
--          {ms, owner, place, near}: as in acquire.lua
--
-- As acquire.lua, with a field for the mode. The hash of a plain lock has no mode, so the lock is
-- busy; Redisson's script would treat it as free. The script drops readers whose leases have ended:
-- the hash lives as long as the longest lease that any reader asked for. In a crowd it looks at a part
-- of the readers only; {1, owner, place, near} then asks for another attempt at once.

local lock, owner, tag, tokens = KEYS[1], ARGV[2], ARGV[3], ARGV[7] or '0'

--#include parts/fencing_token.lua
--#include parts/waiting_writer.lua

local function take()
  local token = KEYS[2] and new_token(KEYS[2], tonumber(tokens)) or 0
  if type(token) ~= 'number' then
    return token
  end
  redis.call('HSET', lock, 'mode', 'write', owner, '1')
  if redis.pcall('PEXPIRE', lock, ARGV[1]) == 1 then
    redis.pcall('DEL', waiting_writer(lock, tag))
    return token
  end
  redis.call('HDEL', lock, 'mode', owner)
  redis.call('PEXPIRE', lock, ARGV[1]) -- see acquire.lua
  return false
end

local queue = 'latchkey_process_queue:' .. tag .. (lock == tag and ':' or '')
local existing = redis.pcall('EXISTS', lock, queue)
if existing == 0 then
  return take()
end

--#include parts/holder.lua
--#include parts/place.lua

-- Most attempts are those of processes that wait for a WRITE: they need no more functions than these.
if existing == 2 and redis.call('HGET', lock, 'mode') ~= 'read' and
   redis.call('HEXISTS', lock, owner) == 0 then
  local place = ARGV[5] ~= '1' and 0 or keep_place(queue, owner, ARGV[1], tokens)
  if place then
    return {redis.call('PTTL', lock), holder(lock), place, is_near_front(queue, owner, place)}
  end
end

--#include parts/ttl.lua
--#include parts/dead_readers.lua
--#include parts/publish.lua
--#include parts/process_queue.lua

-- Drops readers that are dead, and keeps new ones out. Returns whether another attempt may find more
-- dead readers.
local function look_at_readers()
  local left = ttl(lock)
  local fields = redis.call('HLEN', lock)
  local dead, longest, all = dead_readers(lock, tag, owner)
  if fields - drop_readers(lock, dead) <= 1 then -- the mode
    redis.call('DEL', lock)
    return false
  end
  if all and longest > 0 and longest < left then
    redis.call('PEXPIRE', lock, longest)
  end
  local keep = tonumber(ARGV[4])
  if keep > kept_for_writer(lock, tag) then
    redis.pcall('SET', waiting_writer(lock, tag), owner, 'PX', keep)
  end
  return not all and #dead > 0
end

local again = redis.call('HGET', lock, 'mode') == 'read' and look_at_readers()
if redis.call('EXISTS', lock) == 0 and not grant_first(lock, tag, ARGV[6], owner) then
  local taken = take()
  leave_process_queue(lock, tag, owner)
  return taken
end
local left = again and 1 or redis.call('PTTL', lock)
if redis.call('HEXISTS', lock, owner) == 0 then
  local place = ARGV[5] == '1' and take_place(lock, tag, owner, ARGV[1], tokens, ARGV[6]) or 0
  return {left, holder(lock), place, is_near_front(queue, owner, place)}
end
local token = KEYS[2] and same_token(KEYS[2], tonumber(tokens)) or 0
if left < tonumber(ARGV[1]) then
  redis.call('PEXPIRE', lock, ARGV[1])
end
return token
