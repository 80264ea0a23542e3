-- Describes a semaphore. Changes nothing.
--
-- KEYS[1]  the semaphore
-- KEYS[2]  its permits that are taken
-- ARGV[1]  channel
-- ARGV[2]  1: waiters subscribe with SSUBSCRIBE
-- ARGV[3]  the note of the last revocation
--
-- Returns  {available, total, subscribers, revoked, id, ms left, id, ms left, …}: the permits that are taken, at
--          most 1000 of them (-1: the lease has no end). subscribers: -1: the server forbids to count
--          them. A permit whose lease has ended counts as available. revoked: for each id how many
--          ms ago its holder was asked to release it, -1: it was not; empty: none was.
--          nil: there is no semaphore

--#include parts/permits.lua
--#include parts/revocation.lua

local available = available_permits(KEYS[1])
if not available then
  return false
end
local now = server_ms()
local listening
if ARGV[2] == '1' then
  listening = redis.pcall('PUBSUB', 'SHARDNUMSUB', ARGV[1])
else
  listening = redis.pcall('PUBSUB', 'NUMSUB', ARGV[1])
end
local taken = redis.call('ZCARD', KEYS[2])
local ended = redis.call('ZCOUNT', KEYS[2], '0', now)
local answer, ids = {available + ended, available + taken, tonumber(listening[2]) or -1, {}}, {}
local alive = redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. now, '+inf', 'WITHSCORES', 'LIMIT', '0', slice)
for at = 1, #alive, 2 do
  answer[#answer + 1] = alive[at]
  ids[#ids + 1] = hexadecimal(alive[at])
  answer[#answer + 1] = tonumber(alive[at + 1]) < 922337203685477 and alive[at + 1] - now or -1
end
answer[4] = revoked_ago(ARGV[3], ids, now)
return answer
