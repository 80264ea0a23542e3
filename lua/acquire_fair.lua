-- Takes a FAIR lock if the owner is the first in the queue, or keeps its place in the queue.
--
-- KEYS[1]  the lock
-- KEYS[2]  the queue: a list of owners
-- KEYS[3]  the time until which each waiter counts: a sorted set of owners by epoch ms
-- KEYS[4]  with a fencing token: the last token given for the lock
-- ARGV[1]  lease, ms
-- ARGV[2]  owner
-- ARGV[3]  how long a place in the queue lives without a further call, ms; 0: take no place
-- ARGV[4]  channel of plain locks; followed by ":owner": that of one waiter
-- ARGV[5]  1: publish with SPUBLISH; 2: with PUBLISH, in a cluster
-- ARGV[6]  with a fencing token: how many to reserve
--
-- Returns  0: granted, the place is given up
--          token: granted, the last of those reserved
--          {ms, owner, now}: busy, ask again after this time (-1: without end); the owner is empty if
--          the lock is free and other waiters come first; now: the epoch ms, 0: it has no place
--
-- A waiter that calls again keeps its place and gets a new score: now, plus ARGV[3], plus the room
-- for what Redisson subtracts (parts/fair_queue.lua). Redisson sets a score once, and so drops
-- waiters that are alive but wait long. Grants of latchkey subtract nothing.
--
-- The keys of the queue expire an hour after the last score, so that killed waiters leave nothing.
-- Waiters call again in time: the first two every second, because they must know the holder's lease
-- and may receive no notification; the others every 2 s, because a grant counts from the last call.

local lock, queue, timeouts, token_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local owner = ARGV[2]
local held = redis.call('EXISTS', lock) == 1
local first = redis.call('LINDEX', queue, '0')
local now, head, score

--#include parts/fencing_token.lua

local function take()
  local token = token_key and new_token(token_key, tonumber(ARGV[6])) or 0
  if type(token) ~= 'number' then
    return token
  end
  redis.call('HSET', lock, owner, '1')
  if redis.pcall('PEXPIRE', lock, ARGV[1]) == 1 then
    return token
  end
  redis.call('HDEL', lock, owner)
  redis.call('PEXPIRE', lock, ARGV[1]) -- see acquire.lua
  return false
end

if not held and not first then
  return take()
end

--#include parts/holder.lua
--#include parts/publish.lua
--#include parts/notify.lua
--#include parts/place.lua
--#include parts/process_queue.lua
--#include parts/fair_queue.lua

if first then
  now = server_ms()
  head, score = live_head(queue, timeouts, now, ARGV[4], ARGV[5])
end
if not held and (not head or head == owner) then
  local taken = take()
  if type(taken) == 'number' and head then
    redis.call('ZREM', timeouts, owner)
    redis.call('LPOP', queue)
    pcall(head_left, queue, timeouts, tonumber(ARGV[1]), ARGV[4], ARGV[5]) -- may fail
  end
  return taken
end

local left = redis.call('PTTL', lock)
if held and redis.call('HEXISTS', lock, owner) == 1 and redis.call('HEXISTS', lock, 'mode') == 0 then
  local token = token_key and same_token(token_key, tonumber(ARGV[6])) or 0
  if left < tonumber(ARGV[1]) then
    redis.call('PEXPIRE', lock, ARGV[1])
  end
  return token
end

now = now or server_ms()
if not held then
  score = cut_to_grace(timeouts, head, score, now, ARGV[4], ARGV[5])
  if head ~= first then
    publish(ARGV[4] .. ':' .. head, '0', ARGV[5])
  end
end

local wait = tonumber(ARGV[3])
local place
if wait > 0 then
  local own = score_of(timeouts, owner)
  if own then
    place = redis.call('LPOS', queue, owner, 'RANK', '-1') -- a new waiter asks most
  end
  if not place then
    place = redis.call('RPUSH', queue, owner) - 1
  end
  local room
  if place > 0 then
    room = own and room_of(own, now, wait)
    local before = redis.call('LINDEX', queue, place - 1)
    local theirs = score_of(timeouts, before)
    if theirs and (not room or is_ours(before)) then
      local seen = room_of(theirs, now, wait) or
                   math.min(math.max(0, theirs - now) + unseen, most_room)
      room = math.min(room or seen, seen)
    end
  end
  local written = wait < 8000 and now or math.floor(now / 4000) * 4000 -- as precise as the mark
  local long_enough = tonumber(ARGV[1]) >= fair_grant_lease
  local grantable = long_enough and not token_key and not shares_queue(lock)
  redis.call('ZADD', timeouts, marked(written + wait + (room or 0), now, grantable), owner)
  local last = redis.call('ZRANGE', timeouts, '-1', '-1', 'WITHSCORES')[2]
  local keep = math.min(math.floor(last - now), most_room) + 3600000
  if redis.call('PTTL', queue) < keep - 1800000 then
    redis.call('PEXPIRE', queue, keep)
    redis.call('PEXPIRE', timeouts, keep)
  end
end

if not held then
  left = math.ceil(score - now)
elseif not place and left ~= -1 and head then
  left = math.max(left, math.ceil(score - now))
elseif place == 1 and left ~= -1 then
  left = left + 100 -- the first waiter asks first
end
if place then
  local pace = place < 2 and 1000 or 2000
  left = (left == -1 or place > 1) and pace or math.min(left, pace)
end
return {left, held and holder(lock) or '', place and now or 0}
