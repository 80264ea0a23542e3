-- Renews or verifies several holds of SET NX PX locks, each of which has an answer of its own.
--
-- KEYS     for each hold: the lock
-- ARGV     for each hold: renew or verify; lease from now, ms, which only renew uses; owner
--
-- Returns  for each hold 0 or nil, as the script of that name, or 1: that script fails
--
-- As check_batch.lua.

--#include parts/held_by.lua
--#include parts/ttl.lua
--#include parts/renew_value.lua
--#include parts/verify_value.lua

local answers = {}
for key, lock in ipairs(KEYS) do
  local what, lease, owner = ARGV[3 * key - 2], ARGV[3 * key - 1], ARGV[3 * key]
  local ran, answer
  if what == 'renew' then
    ran, answer = pcall(renew, lock, owner, lease)
  else
    ran, answer = pcall(verify, lock, owner)
  end
  if not ran then
    answer = 1
  end
  answers[key] = answer
end
return answers
