-- Reads the count of a latch.
--
-- KEYS[1]  the latch
--
-- Returns  the count; 0: it has none
--
-- A script, so that a replica does not reply: its data may be stale.

return tonumber(redis.call('GET', KEYS[1]) or '0') or redis.error_reply('WRONGTYPE no count')
