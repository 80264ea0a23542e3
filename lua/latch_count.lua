-- Reads the count of a latch.
--
-- KEYS[1]  the latch
--
-- Returns  the count; 0: it has none
--
-- A script, so that a replica does not reply: its data may be stale.

local count = tonumber(redis.call('GET', KEYS[1]) or '0')
-- The reply to a larger number would be negative.
return count and math.min(count, 9007199254740992) or redis.error_reply('WRONGTYPE no count')
