-- Releases a READ. The last reader frees the lock, as in release.lua. The leave of a WRITE that may have been downgraded
-- to a READ releases the one that exists.
--
-- KEYS[1]  the lock
-- KEYS[2]  the key with this owner's lease
-- ARGV[1]  owner
-- ARGV[2]  tag: the lock's name, in braces unless it contains one
-- ARGV[3]  channel of READ and WRITE
-- ARGV[4]  1: publish with SPUBLISH
-- ARGV[5]  leave of a WRITE: owner, followed by ":write"
--
-- Returns  0: it was held and is not any more
--          nil: this owner did not hold it, or its lease ended while other readers held it
--
-- The hash's TTL is reduced to the longest remaining lease, so that a writer does not wait for this
-- owner's lease when only dead readers are left. With many readers, of which only a part is checked,
-- the TTL stays. All reads come before the first write. No command needs memory.

--#include parts/ttl.lua
--#include parts/publish.lua
--#include parts/notify.lua
--#include parts/publish_to_all.lua
--#include parts/dead_readers.lua
--#include parts/fencing_token.lua
--#include parts/place.lua
--#include parts/process_queue.lua

local fields = redis.call('HLEN', KEYS[1])
local dead, longest, all, left = {}, -1, false, -1
if fields > 2 and redis.call('HGET', KEYS[1], 'mode') == 'read' then
  dead, longest, all = dead_readers(KEYS[1], ARGV[2], ARGV[1])
  left = ttl(KEYS[1])
end

if ARGV[5] and redis.call('HDEL', KEYS[1], ARGV[5]) == 1 then -- like release_write.lua
  redis.call('DEL', KEYS[1])
  pass_on(KEYS[1], ARGV[2], ARGV[1], publish_to_all(ARGV[3], ARGV[4]), ARGV[4])
  return 0
end
if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then
  redis.call('DEL', KEYS[2])
  return false
end
local held = redis.call('DEL', KEYS[2]) == 1
fields = fields - 1 - drop_readers(KEYS[1], dead)
if fields <= 1 then -- the mode
  redis.call('DEL', KEYS[1])
  pass_on(KEYS[1], ARGV[2], ARGV[1], notify(ARGV[3], '0', ARGV[4]), ARGV[4])
elseif all and longest > 0 and longest < left then
  redis.call('PEXPIRE', KEYS[1], longest)
end
return held and 0
