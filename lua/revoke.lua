-- Asks those who hold a lock to release it, and notes whom it has asked. No hold is changed.
--
-- KEYS[1]  the lock, or the semaphore
-- ARGV[1]  the channel of its revocations, and the name of the note
-- ARGV[2]  1: publish with SPUBLISH
-- ARGV[3]  the permits of a semaphore that are taken
--
-- Returns  how many connections received it
--
-- A server that forbids the message says so: nobody would hear it. Without a receiver nobody was asked, so
-- nothing is noted. A note that cannot be written is left out.

--#include parts/revocation.lua

local told
if ARGV[2] == '1' then
  told = redis.call('SPUBLISH', ARGV[1], '1')
else
  told = redis.call('PUBLISH', ARGV[1], '1')
end
local time = told > 0 and redis.pcall('TIME') or {}
if not time[1] then
  return told
end
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local most = 1000
local note, left = {string.format('%.0f', now)}, redis.pcall('PTTL', KEYS[1])
local entries = redis.pcall('HGETALL', KEYS[1])
for at = 1, #entries, 2 do
  if entries[at] ~= 'mode' and #note <= most then
    note[#note + 1] = entries[at]:gsub(':write$', '')
  end
end
if entries.err then
  local taken = redis.pcall('ZRANGEBYSCORE', ARGV[3], '(' .. now, '+inf', 'WITHSCORES', 'LIMIT', '0', most)
  for at = 1, #taken, 2 do
    note[#note + 1] = hexadecimal(taken[at])
    left = taken[at + 1] - now
  end
end

-- A lease without an end is a mistake of somebody's, or of a semaphore: its holder is found asked for a minute.
local minute = 60000
if #note > 1 and type(left) == 'number' then
  left = left > 0 and left < 922337203685477 and left or minute
  redis.pcall('SET', ARGV[1], table.concat(note, ' '), 'PX', string.format('%.0f', left))
  -- SET counts from a later time than PTTL did, and the note must not outlive the lock.
  redis.pcall('PEXPIREAT', ARGV[1], string.format('%.0f', now + left))
end
return told
