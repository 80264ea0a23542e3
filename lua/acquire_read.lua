-- Takes a READ, or returns the holder and its remaining lease.
--
-- KEYS[1]  the lock
-- KEYS[2]  the key with this owner's lease: tag:owner:rwlock_timeout:1
-- ARGV[1]  lease, ms
-- ARGV[2]  owner
-- ARGV[3]  tag: the lock's name, in braces unless it contains one
--
-- Returns  0: granted
--          {ms, owner}: busy, for at most this time (-1: without end)
--
-- As acquire.lua, with a field for the mode. Each reader's lease is a key of its own, and the hash
-- lives as long as the longest one. The next Redisson reader that unlocks would remove a reader
-- without such a key. The hash of a plain lock has no mode, so the lock is busy. The client counts a
-- READ inside the owner's own WRITE itself and sends nothing. A new READ lets a WRITE that waits go
-- first.

--#include parts/waiting_writer.lua
local kept = kept_for_writer(KEYS[1], ARGV[3])

if redis.call('EXISTS', KEYS[1]) == 0 then
  if kept > 0 then
    return {kept, ''}
  end
  redis.call('SET', KEYS[2], '1', 'PX', ARGV[1])
  redis.call('HSET', KEYS[1], 'mode', 'read', ARGV[2], '1')
  if redis.pcall('PEXPIRE', KEYS[1], ARGV[1]) == 1 then
    return 0
  end
  redis.call('HDEL', KEYS[1], 'mode', ARGV[2])
  redis.call('PEXPIRE', KEYS[1], ARGV[1]) -- see acquire.lua
  return false
end

--#include parts/holder.lua
--#include parts/ttl.lua
--#include parts/dead_readers.lua

local left = redis.call('PTTL', KEYS[1])
if redis.call('HGET', KEYS[1], 'mode') ~= 'read' then
  return {left, holder(KEYS[1])}
end
local own = ttl(KEYS[2])
local lease = math.max(tonumber(ARGV[1]), own)
local joins = own == -2 or redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0
if joins and kept > 0 then
  return {kept, holder(KEYS[1])}
end
local dead = dead_readers(KEYS[1], ARGV[3], ARGV[2])
if joins then
  redis.call('SET', KEYS[2], '1', 'PX', lease)
  redis.call('HSET', KEYS[1], ARGV[2], '1')
else
  redis.call('PEXPIRE', KEYS[2], lease)
end
drop_readers(KEYS[1], dead)
if left < lease then
  redis.call('PEXPIRE', KEYS[1], lease)
end
return 0
