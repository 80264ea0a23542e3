-- Asks those who hold a lock to release it. Nothing is changed.
--
-- KEYS[1]  the lock
-- ARGV[1]  the channel of its revocations
-- ARGV[2]  1: publish with SPUBLISH
--
-- Returns  how many connections received it
--
-- A server that forbids the message says so: nobody would hear it.

if ARGV[2] == '1' then
  return redis.call('SPUBLISH', ARGV[1], '1')
end
return redis.call('PUBLISH', ARGV[1], '1')
