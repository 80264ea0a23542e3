-- Asks whether an owner still holds, of any lock but a READ.
--
-- KEYS[1]  the lock
-- ARGV[1]  owner; for a WRITE with ":write" behind it
--
-- Returns  0: it does
--          nil: it does not

if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return false
end
return 0
