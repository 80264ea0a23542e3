-- Renews or verifies several holds, each of which has an answer of its own.
--
-- KEYS     for each hold: the lock; READ: also the key with this owner's lease; of a semaphore: also its
--          permits that are taken
-- ARGV     for each hold: renew, renew_read, renew_permits, verify, verify_read or verify_permits;
--          lease from now, ms, which only renewals use; owner (WRITE: followed by ":write"; of a
--          semaphore: id of the first permit, 16 bytes, and how many there are)
--
-- Returns  for each hold 0 or nil, as the script of that name, or 1: that script fails
--
-- A hold whose commands fail does not affect the others. What it fails with, the client learns from
-- the script of the single hold, which it sends next. So does a hold of a semaphore that has lost a
-- permit: that script returns the others.

--#include parts/ttl.lua
--#include parts/renew.lua
--#include parts/renew_read.lua
--#include parts/verify.lua
--#include parts/verify_read.lua
--#include parts/permits.lua
--#include parts/hold_of_permits.lua
--#include parts/renew_permits.lua
--#include parts/verify_permits.lua

local answers, key = {}, 1
for word = 1, #ARGV, 3 do
  local what, lease, owner = ARGV[word], ARGV[word + 1], ARGV[word + 2]
  local ran, answer
  if what == 'renew' then
    ran, answer = pcall(renew, KEYS[key], owner, lease)
  elseif what == 'renew_read' then
    ran, answer = pcall(renew_read, KEYS[key], KEYS[key + 1], owner, lease)
  elseif what == 'verify' then
    ran, answer = pcall(verify, KEYS[key], owner)
  elseif what == 'verify_read' then
    ran, answer = pcall(verify_read, KEYS[key], KEYS[key + 1], owner)
  else
    local first, count = owner:sub(1, 16), tonumber(owner:sub(17))
    if what == 'renew_permits' then
      ran, answer = pcall(renew_permits, KEYS[key + 1], first, count, tonumber(lease))
    else
      ran, answer = pcall(verify_permits, KEYS[key + 1], first, count)
    end
    ran = ran and answer
  end
  key = key + ((what == 'renew' or what == 'verify') and 1 or 2)
  if not ran then
    answer = 1
  end
  answers[#answers + 1] = answer
end
return answers
