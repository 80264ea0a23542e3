-- Lets a REENTRANT, FENCED or WRITE lock that nobody in its process uses end earlier than its lease,
-- and says whether somebody waits for it.
--
-- KEYS[1]  the lock
-- KEYS[2]  the queue of a FAIR lock
-- KEYS[3]  the process queue
-- ARGV[1]  when it ends, ms from now
-- ARGV[2]  owner; for a WRITE with ":write" after it
-- ARGV[3]  channel of plain locks
-- ARGV[4]  channel of READ and WRITE
-- ARGV[5]  1: waiters subscribe with SSUBSCRIBE
--
-- Returns  0: it ends in that time or earlier
--          1: so it does, and somebody waits for it, or the user may not know
--          nil: this owner no longer holds
--
-- CLIENT CACHING YES precedes it: the server then tells the connection of the next change of what is
-- read here last, the lock and the queues of those who wait for it. Redis 7.0 remembers KEYS only.
-- Others only listen to the lock's channels: those who do so already are seen here. Works while the
-- server is out of memory.

--#include parts/expire.lua

if not expire(KEYS[1], ARGV[2], ARGV[1]) then
  return false
end
local listening = redis.pcall('PUBSUB', ARGV[5] == '1' and 'SHARDNUMSUB' or 'NUMSUB', ARGV[3], ARGV[4])
local alone = redis.pcall('EXISTS', KEYS[1], KEYS[2], KEYS[3]) == 1 and not listening.err and
              listening[2] + listening[4] == 0
return alone and 0 or 1
