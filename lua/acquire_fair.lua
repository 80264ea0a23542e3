-- Takes a FAIR lock where it is the owner's turn, or keeps its place in the queue.
--
-- KEYS[1]  the lock
-- KEYS[2]  the queue: a list of owners
-- KEYS[3]  until when each counts: a sorted set of owners by epoch ms
-- ARGV[1]  lease, ms
-- ARGV[2]  owner
-- ARGV[3]  for how long the place lives without being asked for again, ms; 0: take none
-- ARGV[4]  channel of plain locks; with ":owner" behind it, that of one waiter
-- ARGV[5]  1: publish with SPUBLISH
--
-- Returns  0: granted, the place is given up
--          {ms, owner}: busy, for no longer than that (-1: there is no end); the owner is empty
--          where the lock is free and only others come first
--
-- A waiter that asks again keeps its place, and its score is written anew. Redisson fixes it once,
-- and drops waiters that live but wait long. At the head it is now + ARGV[3]. Behind others it is
-- larger by 300 s for each Java waiter that can be ahead, because Redisson takes that much (its
-- fairLockWaitTimeout) off every score when such a one is granted; how many there can be is what the
-- predecessor's score says, and one always may be. Our own grants take nothing off.

local lock, queue, timeouts = KEYS[1], KEYS[2], KEYS[3]
local owner = ARGV[2]
local held = redis.call('EXISTS', lock) == 1
local first = redis.call('LINDEX', queue, 0)
local now, head, score

if not held and not first then
  redis.call('HSET', lock, owner, 1)
  redis.call('PEXPIRE', lock, ARGV[1])
  return 0
end

--#include parts/holder.lua
--#include parts/publish.lua
--#include parts/fair_queue.lua

if first then
  now = server_ms()
  head, score = live_head(queue, timeouts, now)
end
if not held and (not head or head == owner) then
  redis.call('HSET', lock, owner, 1)
  redis.call('PEXPIRE', lock, ARGV[1])
  if head then
    redis.call('LPOP', queue)
    redis.call('ZREM', timeouts, owner)
  end
  return 0
end

local left = redis.call('PTTL', lock)
if held and redis.call('HEXISTS', lock, owner) == 1 and redis.call('HEXISTS', lock, 'mode') == 0 then
  if left < tonumber(ARGV[1]) then
    redis.call('PEXPIRE', lock, ARGV[1])
  end
  return 0
end

now = now or server_ms()
if not held then
  score = cut_to_grace(timeouts, head, score, now)
  if head ~= first then
    publish(ARGV[4] .. ':' .. head, 0, ARGV[5])
  end
end

local wait = tonumber(ARGV[3])
if wait > 0 then
  local queued = redis.call('ZSCORE', timeouts, owner) and redis.call('LPOS', queue, owner)
  local place = queued or redis.call('RPUSH', queue, owner) - 1
  local mine = now + wait
  if place > 0 then
    local before = redis.call('LINDEX', queue, place - 1)
    local ahead = tonumber(redis.call('ZSCORE', timeouts, before) or now) - now
    mine = mine + 300000 * math.max(1, math.ceil((ahead - wait) / 300000))
  end
  redis.call('ZADD', timeouts, mine, owner)
end

if not held then
  return {score - now, ''}
end
if head and head ~= owner and left ~= -1 then
  left = math.max(left, score - now)
end
return {left, holder(lock)}
