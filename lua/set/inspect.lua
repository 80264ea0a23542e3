-- Describes a SET NX PX lock. Changes nothing.
--
-- KEYS[1]  the lock
-- KEYS[2]  the last fencing token
-- ARGV[1]  tag: the lock's name, in braces unless it contains one
-- ARGV[2]  channel
-- ARGV[3]  1: waiters subscribe with SSUBSCRIBE
--
-- Returns  {'', token or '', holders, {}, subscribers}: holders is empty or {owner, 1, ms left (-1:
--          without end), note or ''}. subscribers is the number of connections that listen for a
--          release, -1: the server forbids to count them.

local holders = {}
local owner = redis.call('GET', KEYS[1])
if owner then
  local note = redis.pcall('GET', 'latchkey_holder:' .. ARGV[1] .. ':' .. owner)
  holders = {owner, 1, redis.call('PTTL', KEYS[1]), type(note) == 'string' and note or ''}
end
local listening
if ARGV[3] == '1' then
  listening = redis.pcall('PUBSUB', 'SHARDNUMSUB', ARGV[2])
else
  listening = redis.pcall('PUBSUB', 'NUMSUB', ARGV[2])
end
local subscribers = listening.err and -1 or tonumber(listening[2])
return {'', redis.call('GET', KEYS[2]) or '', holders, {}, subscribers}
