-- Turns a WRITE into a READ of the same owner, without a moment in which the lock is free.
--
-- KEYS[1]  the lock
-- KEYS[2]  this owner's timeout as a reader
-- ARGV[1]  lease, ms
-- ARGV[2]  owner
-- ARGV[3]  channel of READ and WRITE
-- ARGV[4]  1: publish with SPUBLISH
--
-- Returns  0: it is a READ now (or was one already: asked again), for the lease or longer
--          nil: this owner no longer holds
--
-- Readers that wait are told, which Redisson does not do. The WRITE's field goes last: whatever the
-- server refuses before it leaves the WRITE as it was. PEXPIRE is the first to write: it needs no
-- memory, and where it was carried out the server lets the rest of the script run out of memory.

--#include parts/publish.lua

local lease = tonumber(ARGV[1])
local left = redis.call('PTTL', KEYS[1])
local writer = ARGV[2] .. ':write'
if redis.call('HEXISTS', KEYS[1], writer) == 1 then
  lease = math.max(lease, left)
  redis.call('PEXPIRE', KEYS[1], lease)
  redis.call('SET', KEYS[2], 1, 'PX', lease)
  redis.call('HSET', KEYS[1], 'mode', 'read', ARGV[2], 1)
  redis.call('HDEL', KEYS[1], writer)
else
  local own = redis.call('PTTL', KEYS[2])
  if own == -2 or redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
    return false
  end
  lease = math.max(lease, own)
  redis.call('PEXPIRE', KEYS[2], lease)
  if left < lease then
    redis.call('PEXPIRE', KEYS[1], lease)
  end
end
publish(ARGV[3], 1, ARGV[4])
return 0
