-- Shortens or extends the lease of a lock that nobody in its process uses, and says whether somebody
-- waits for it. REENTRANT, FENCED, WRITE and READ.
--
-- KEYS[1]  the lock
-- KEYS[2]  the queue of a FAIR lock
-- KEYS[3]  the process queue
-- KEYS[4]  READ: this owner's timeout
-- ARGV[1]  when it ends, ms from now
-- ARGV[2]  owner; for a WRITE with ":write" after it
-- ARGV[3]  channel of plain locks
-- ARGV[4]  channel of READ and WRITE
-- ARGV[5]  1: waiters subscribe with SSUBSCRIBE
-- ARGV[6]  1: it ends then or later; 0: then or earlier
-- ARGV[7]  READ: tag: the lock's name, in braces if it has none
--
-- Returns  0: it does; the hash of a READ up to `slack` ms later
--          1: so it does, and somebody waits for it, or the user may not know
--          nil: this owner no longer holds, or a READ whose lease ended while others went on reading
--
-- CLIENT CACHING YES precedes it: the server then tells the connection of the next change of what is
-- read here last, the lock and the queues of those who wait for it. Redis 7.0 remembers KEYS only.
-- Others only listen to the lock's channels: those who do so already are seen here. Works while the
-- server is out of memory.
--
-- Each change of the hash is a message to all processes that keep a READ. So the hash may outlive the last of them by
-- `slack` ms: it is not shortened by less, and extended by as much at least.

--#include parts/expire.lua
--#include parts/ttl.lua
--#include parts/dead_readers.lua
--#include parts/expire_read.lua
--#include parts/renew.lua
--#include parts/renew_read.lua

local slack, extends, holds = 100, ARGV[6] == '1', nil
if KEYS[4] and extends then
  holds = renew_read(KEYS[1], KEYS[4], ARGV[2], ARGV[1], slack)
elseif KEYS[4] then
  holds = expire_read(KEYS[1], KEYS[4], ARGV[7], ARGV[2], ARGV[1], slack)
elseif extends then
  holds = renew(KEYS[1], ARGV[2], ARGV[1])
else
  holds = expire(KEYS[1], ARGV[2], ARGV[1])
end
if not holds then
  return false
end
local listening = redis.pcall('PUBSUB', ARGV[5] == '1' and 'SHARDNUMSUB' or 'NUMSUB', ARGV[3], ARGV[4])
local alone = redis.pcall('EXISTS', KEYS[1], KEYS[2], KEYS[3]) == 1 and not listening.err and
              listening[2] + listening[4] == 0
return alone and 0 or 1
