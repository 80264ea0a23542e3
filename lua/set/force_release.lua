-- Ends the hold of a SET NX PX lock, whoever has it.
--
-- KEYS[1]  the lock
-- ARGV[1]  channel
-- ARGV[2]  1: publish with SPUBLISH
--
-- Returns  0: it was held and is free
--          nil: it was not held
--          an error: the string has no TTL, so it is data and no lock, and it is not deleted
--
-- Waiters are notified as by a release.

--#include parts/publish.lua

if not redis.call('GET', KEYS[1]) then
  redis.call('DEL', KEYS[1]) -- changes nothing, but a replica rejects it
  return false
end
if redis.call('PTTL', KEYS[1]) == -1 then
  return redis.error_reply('ERR the string is no lock: it has no TTL')
end
redis.call('DEL', KEYS[1])
publish(ARGV[1], '0', ARGV[2])
return 0
