-- Keeps what a holder says of itself, for people, as long as its lease.
--
-- KEYS[1]  the lock
-- KEYS[2]  where it is kept
-- ARGV[1]  owner; for a WRITE with ":write" behind it
-- ARGV[2]  what it says
-- ARGV[3]  lease, ms
--
-- Returns  1: kept
--          0: this owner does not hold
--
-- Sent behind an acquire, whose own answer has gone out before. No lock depends on it.

if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return 0
end
redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
return 1
