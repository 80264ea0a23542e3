-- Takes a SET NX PX lock with tokens larger than any before, or returns the holder and its remaining
-- lease.
--
-- KEYS[1]  the lock: a string, whose value is the owner
-- KEYS[2]  the last token given for it
-- ARGV[1]  lease, ms
-- ARGV[2]  owner
-- ARGV[3]  how many tokens to reserve
--
-- Returns  token: granted, the last of those reserved; 1 or more
--          {ms, owner}, or an error WRONGTYPE: as in acquire.lua
--
--#include parts/fencing_token.lua

local lock, owner = KEYS[1], ARGV[2]

local holder = redis.call('GET', lock)
if holder and holder ~= owner then
  return {redis.call('PTTL', lock), holder}
end
local token = (holder and same_token or new_token)(KEYS[2], tonumber(ARGV[3]))
if type(token) ~= 'number' then
  return token
end
if not holder then
  redis.call('SET', lock, owner, 'NX', 'PX', ARGV[1])
elseif redis.call('PTTL', lock) < tonumber(ARGV[1]) then
  redis.call('PEXPIRE', lock, ARGV[1])
end
return token
