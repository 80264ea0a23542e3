-- Releases a REENTRANT or FENCED lock.
--
-- KEYS[1]  the lock
-- ARGV[1]  owner
-- ARGV[2]  channel of plain locks
-- ARGV[3]  1: publish with SPUBLISH
--
-- Returns  number: it was held and is free; how many connections were notified (0: none, or the
--                  server forbids it)
--          nil: this owner did not hold it; nothing changed
--
-- HDEL comes first: it works while the server is out of memory, and if PUBLISH is forbidden. A hash
-- without fields does not exist any more. Idempotent, because an owner is never used again.

if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then
  return false
end
local notified
if ARGV[3] == '1' then
  notified = redis.pcall('SPUBLISH', ARGV[2], '0')
else
  notified = redis.pcall('PUBLISH', ARGV[2], '0')
end
return type(notified) == 'number' and notified or 0
