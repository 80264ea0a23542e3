-- Renews or verifies several holds, each of which has an answer of its own.
--
-- KEYS     for each hold: the lock; READ: also the key with this owner's lease
-- ARGV     for each hold: renew, renew_read, verify or verify_read; lease from now, ms, which only
--          the first two use; owner (WRITE: followed by ":write")
--
-- Returns  for each hold 0 or nil, as the script of that name, or 1: that script fails
--
-- A hold whose commands fail does not affect the others. What it fails with, the client learns from
-- the script of the single hold, which it sends next.

--#include parts/renew.lua
--#include parts/renew_read.lua
--#include parts/verify.lua
--#include parts/verify_read.lua

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
  else
    ran, answer = pcall(verify_read, KEYS[key], KEYS[key + 1], owner)
  end
  local reads = what == 'renew_read' or what == 'verify_read'
  key = key + (reads and 2 or 1)
  if not ran then
    answer = 1
  end
  answers[#answers + 1] = answer
end
return answers
