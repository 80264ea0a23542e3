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
--
-- Returns  number: granted; how many permits are available still
--          {ms, total}: too few are available; by this time a lease ends (-1: none does); how many
--          permits the semaphore has
--
-- Idempotent: a holder that repeats the call has its lease begin anew. Permits whose leases have ended
-- are dropped here, because nobody else may be left who would.

--#include parts/publish.lua
--#include parts/permits.lua

local semaphore, permits, count = KEYS[1], KEYS[2], tonumber(ARGV[2])
local now = server_ms()
local available = available_permits(semaphore)
if not available then
  available = tonumber(ARGV[3]) - redis.call('ZCARD', permits)
  redis.call('SET', semaphore, string.format('%.0f', available))
end
local ends = now + ARGV[1]
local own = end_of_hold(permits, ARGV[4], count, now)
if own then
  set_end(permits, ARGV[4], count, math.max(own, ends))
  return math.max(available, 0)
end

local dropped
available, dropped = drop_ended(semaphore, permits, now, available, math.max(count, 1))
if available < count then
  local total = available + redis.call('ZCARD', permits)
  local first = redis.call('ZRANGE', permits, '0', '0', 'WITHSCORES')
  -- Redisson's score for a lease without an end is far in the future.
  local left = -1
  if #first > 0 and tonumber(first[2]) < 922337203685477 then
    left = math.max(tonumber(first[2]) - now, 1)
  end
  return {left, total}
end
available = redis.call('DECRBY', semaphore, count)
if not pcall(set_end, permits, ARGV[4], count, ends) then
  -- The other way about, members that were not subtracted would be added when their leases end. What
  -- follows fails for the same reason, and says it.
  redis.call('INCRBY', semaphore, count)
  redis.call('ZADD', permits, 'XX', '0', '')
  return false
end
local left = redis.call('PTTL', semaphore)
if left > 0 then -- Redisson lets a semaphore with a TTL take this along
  redis.call('PEXPIRE', permits, left)
end
if dropped > 0 and available > 0 then
  publish(ARGV[5], string.format('%.0f', available), ARGV[6])
end
return available
