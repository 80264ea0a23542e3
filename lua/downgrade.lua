-- Turns a WRITE into a READ of the same owner. The lock is never free in between.
--
-- KEYS[1]  the lock
-- KEYS[2]  the key with this owner's READ lease
-- ARGV[1]  lease, ms
-- ARGV[2]  owner
-- ARGV[3]  channel of READ and WRITE
-- ARGV[4]  1: publish with SPUBLISH
--
-- Returns  0: it is a READ now, or was one already, for at least the lease
--          nil: this owner does not hold it any more
--
-- Waiting readers are notified, which Redisson does not do. The field of the WRITE is deleted last,
-- so that the WRITE stays if the server rejects an earlier command. PEXPIRE is the first write: it
-- needs no memory, and after it the server permits the rest of the script to exceed the memory limit.

--#include parts/ttl.lua
--#include parts/publish.lua
--#include parts/notify.lua
--#include parts/publish_to_all.lua

local lease = tonumber(ARGV[1])
local left = ttl(KEYS[1])
local writer = ARGV[2] .. ':write'
if redis.call('HEXISTS', KEYS[1], writer) == 1 then
  lease = math.max(lease, left)
  redis.call('PEXPIRE', KEYS[1], lease)
  redis.call('SET', KEYS[2], '1', 'PX', lease)
  redis.call('HSET', KEYS[1], 'mode', 'read', ARGV[2], '1')
  redis.call('HDEL', KEYS[1], writer)
else
  local own = ttl(KEYS[2])
  if own == -2 or redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
    return false
  end
  lease = math.max(lease, own)
  redis.call('PEXPIRE', KEYS[2], lease)
  if left < lease then
    redis.call('PEXPIRE', KEYS[1], lease)
  end
end
publish_to_all(ARGV[3], ARGV[4])
return 0
