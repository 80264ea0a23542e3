-- Deletes a semaphore, whoever has permits of it.
--
-- KEYS[1]  the semaphore
-- KEYS[2]  its permits that are taken
-- ARGV[1]  channel
-- ARGV[2]  1: publish with SPUBLISH
--
-- Returns  0: it is deleted; nothing is left of it
--          nil: there was none
--          an error: one of the keys is something else, so neither is deleted
--
-- Who waits tries again, and makes it anew.

--#include parts/publish.lua
--#include parts/permits.lua

available_permits(KEYS[1]) -- an error: something else has the name
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', '+inf', 'LIMIT', '0', slice)) do
  if #id ~= 16 then
    return redis.error_reply('ERR the sorted set has members that are no permits, such as ' .. id)
  end
end
local deleted = redis.call('DEL', KEYS[1]) + redis.call('DEL', KEYS[2])
local queue = 'latchkey_permit_queue:' .. KEYS[2]:sub(1, -#':timeout' - 1)
redis.pcall('DEL', queue)
redis.pcall('DEL', queue .. ':places')
if deleted == 0 then
  return false
end
publish(ARGV[1], '1', ARGV[2])
return 0
