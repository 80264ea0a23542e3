-- Stores a holder's note about itself, which people read, as long as its lease.
--
-- KEYS[1]  the lock
-- KEYS[2]  the key of the note
-- ARGV[1]  owner
-- ARGV[2]  the note
-- ARGV[3]  lease, ms
--
-- Returns  1: stored
--          0: this owner does not hold the lock
--
-- Sent after an acquire, which has its own reply. No lock depends on the note.

if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
return 1
