-- Undoes an acquire of a REENTRANT or FENCED lock, or of a WRITE that cannot have become a READ,
-- whatever its result was: leaves the process queue, or releases the lock.
--
-- KEYS[1]  the lock
-- ARGV[1]  owner; that of a WRITE ends in ":write"
-- ARGV[2]  tag: the lock's name, in braces unless it contains one
-- ARGV[3]  1: publish with SPUBLISH
--
-- Returns  0: the owner had a place or the lock, and has neither any more
--          nil: the owner had neither; nothing changed

--#include parts/fencing_token.lua
--#include parts/publish.lua
--#include parts/notify.lua
--#include parts/publish_to_all.lua
--#include parts/place.lua
--#include parts/process_queue.lua

local lock, owner, tag = KEYS[1], ARGV[1], ARGV[2]

local queued = leave_process_queue(lock, tag, owner)
if redis.call('HDEL', lock, owner) == 0 then
  if queued and redis.pcall('EXISTS', lock) == 0 then
    grant_first(lock, tag, ARGV[3]) -- a release may have notified only the one that leaves
  end
  return queued and 0
end
local notified
if owner:sub(-6) == ':write' then
  redis.call('DEL', lock)
  notified = publish_to_all('redisson_rwlock:' .. tag, ARGV[3])
else
  notified = notify('redisson_lock__channel:' .. tag, '0', ARGV[3])
end
pass_on(lock, tag, owner, notified, ARGV[3])
return 0
