-- Asks whether an owner still holds, of any lock but a READ.
--
-- KEYS[1]  the lock
-- ARGV[1]  owner; for a WRITE with ":write" behind it
--
-- Returns  0: it does
--          nil: it does not
--
-- A replica's word counts nothing: what it knows may be old, and a server may become one at any time.
-- Removing a field that nobody has is a write, which a replica refuses and which changes nothing.

redis.call('HDEL', KEYS[1], '')
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return false
end
return 0
