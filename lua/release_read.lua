-- Gives a READ back; the last reader frees the lock.
--
-- KEYS[1]  the lock
-- KEYS[2]  this owner's timeout
-- ARGV[1]  owner
-- ARGV[2]  tag: the lock's name, in braces where it has none
-- ARGV[3]  channel of READ and WRITE
-- ARGV[4]  1: publish with SPUBLISH
--
-- Returns  0: it was held and is not any more
--          nil: this owner did not hold it, or its lease ended while others went on reading
--
-- The hash is shortened to the longest lease that is left, or a writer would wait for a reader that
-- died for as long as for us. In a crowd, of which only a part is looked at, it stays. Removes first,
-- so that it works while the server is out of memory.

if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then
  redis.call('DEL', KEYS[2])
  return false
end
local held = redis.call('DEL', KEYS[2]) == 1
local fields = redis.call('HLEN', KEYS[1])

--#include parts/publish.lua
--#include parts/dead_readers.lua

if fields > 1 and redis.call('HGET', KEYS[1], 'mode') == 'read' then
  local longest, all = drop_dead_readers(KEYS[1], ARGV[2])
  local left = redis.call('PTTL', KEYS[1])
  if all and longest > 0 and longest < left then
    redis.call('PEXPIRE', KEYS[1], longest)
  end
  fields = redis.call('HLEN', KEYS[1])
end
if fields <= 1 then -- the mode
  redis.call('DEL', KEYS[1])
  publish(ARGV[3], 0, ARGV[4])
end
return held and 0
