-- Takes permits of a semaphore, all or none. Makes the semaphore if there is none.
--
-- KEYS[1]  the semaphore
-- KEYS[2]  its permits that are taken
-- ARGV[1]  lease, ms
-- ARGV[2]  how many permits to take, at most 1000
-- ARGV[3]  how many a new semaphore has
-- ARGV[4]  id of the first permit of this hold
-- ARGV[5]  channel
-- ARGV[6]  1: publish with SPUBLISH
-- ARGV[7]  1: wait in the queue of processes for permits
--
-- Returns  number: granted; how many permits are available still
--          {ms, total, place}: too few are available, or others are first; by this time a lease, or
--          the place of one that is first, ends (-1: none does); how many permits the semaphore has;
--          1: it has a place in the queue
--
-- Idempotent: a holder that repeats the call has its lease begin anew. Permits whose leases have ended
-- are dropped here, because nobody else may be left who would.

--#include parts/permits.lua

local semaphore, permits, count, first = KEYS[1], KEYS[2], tonumber(ARGV[2]), ARGV[4]
local now = server_ms()
local ends = now + ARGV[1]
local available = available_permits(semaphore)
if not available then
  available = tonumber(ARGV[3]) - redis.call('ZCARD', permits)
  redis.call('SET', semaphore, string.format('%.0f', available))
end

-- Most acquires take one permit that is available, and do not need these functions: a function costs
-- time in every call that creates it.
local function functions_of_hold()
  --#include parts/hold_of_permits.lua
  return end_of_hold, set_end
end

local function functions_of_queue()
  --#include parts/permit_queue.lua
  return wanted_before, keep_place, leave_place
end

local dropped = 0
local function drop_leases_that_ended(enough)
  --#include parts/remove_permits.lua
  --#include parts/ended_permits.lua
  available, dropped = drop_ended(semaphore, permits, now, available, enough)
end

-- How many permits are free is needed before it is known how many others want.
local queue = 'latchkey_permit_queue:' .. permits:sub(1, -#':timeout' - 1)
local others_wait = redis.pcall('EXISTS', queue) == 1
local wanted, place_ends, ended = 0, nil, 0
if others_wait then
  drop_leases_that_ended(math.huge)
  local wanted_before = functions_of_queue()
  wanted, place_ends, ended = wanted_before(queue, first, now, available - count + 1)
end

if available < wanted + count then
  local end_of_hold, set_end = functions_of_hold()
  local own = end_of_hold(permits, first, count, now)
  if own then
    set_end(permits, first, count, math.max(own, ends), 'XX')
    return math.min(math.max(available, 0), 9007199254740992)
  end
  if not others_wait then
    drop_leases_that_ended(count)
  end
  if available < wanted + count then
    local total = math.min(available + redis.call('ZCARD', permits), 9007199254740992)
    local nearest = redis.call('ZRANGE', permits, '0', '0', 'WITHSCORES')
    -- Redisson's score for a lease without an end is far in the future.
    local left = -1
    if #nearest > 0 and tonumber(nearest[2]) < 922337203685477 then
      left = math.max(tonumber(nearest[2]) - now, 1)
    end
    if place_ends then
      left = left < 0 and place_ends - now or math.min(left, place_ends - now)
    end
    local _, keep_place = functions_of_queue()
    local has_place = ARGV[7] == '1' and count <= total and keep_place(queue, first, count, now)
    if dropped + ended > 0 and available > 0 then
      --#include parts/publish.lua
      publish(ARGV[5], string.format('%.0f', available), ARGV[6])
    end
    return {left, total, has_place and 1 or 0}
  end
end

-- The count comes before the members: members that were not subtracted would be added when their
-- leases end. What must be undone is undone by the same command, which is allowed.
available = redis.call('DECRBY', semaphore, count)
local done, added
if count == 1 then
  added = redis.pcall('ZADD', permits, 'NX', string.format('%.0f', ends), first)
  done = type(added) == 'number'
else
  local _, set_end = functions_of_hold()
  done, added = pcall(set_end, permits, first, count, ends, 'NX')
end
if not done then
  redis.call('DECRBY', semaphore, -count)
  redis.call('ZADD', permits, 'XX', '0', '') -- fails for the same reason, and says it
  return false
end
if added < count then -- a repeated call: what it has was subtracted before
  local end_of_hold, set_end = functions_of_hold()
  available = redis.call('DECRBY', semaphore, added - count)
  local own = end_of_hold(permits, first, count, now)
  set_end(permits, first, count, math.max(own or 0, ends), 'XX')
end
local left = math.min(redis.call('PTTL', semaphore), 1e15) -- see ttl.lua
if left > 0 then -- Redisson lets a semaphore with a TTL take this along
  redis.call('PEXPIRE', permits, left)
end
local leaves_place = false
if others_wait then
  local _, _, leave_place = functions_of_queue()
  leaves_place = leave_place(queue, first)
end
-- Whoever waited for one that was first has not been told of what is left.
if available > 0 and (dropped > 0 or leaves_place and redis.pcall('EXISTS', queue) == 1) then
  --#include parts/publish.lua
  publish(ARGV[5], string.format('%.0f', available), ARGV[6])
end
return math.min(available, 9007199254740992) -- see latch_count.lua
