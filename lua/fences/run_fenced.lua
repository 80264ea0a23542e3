-- Runs a command under a fence: unless a higher token was seen. The token is remembered first, so the
-- command may fail and the token stays.
--
-- KEYS[1]  where the highest token is kept
-- KEYS[2…] the keys of the command
-- ARGV[1]  the token, in decimal
-- ARGV[2]  the name of the command; its keys follow, and after them
-- ARGV[3…] its other arguments
--
-- Returns  the reply of the command, or the error STALEFENCE and the highest token
--
-- Tokens are compared as text, the shorter one is the lower: Lua counts exactly only up to 2^53.
local token, seen = ARGV[1], redis.call('GET', KEYS[1])
if not string.find(token, '^[1-9]%d*$') then
  return redis.error_reply('ERR the token of a fence must be a decimal number from 1')
end
if seen and not string.find(seen, '^[1-9]%d*$') then
  return redis.error_reply('ERR the key of the fence has a value that is no token')
end
if seen and (#seen > #token or (#seen == #token and seen > token)) then
  return redis.error_reply('STALEFENCE ' .. seen)
end
if seen ~= token then
  redis.call('SET', KEYS[1], token)
end
local command = {ARGV[2]}
for i = 2, #KEYS do
  command[#command + 1] = KEYS[i]
end
for i = 3, #ARGV do
  command[#command + 1] = ARGV[i]
end
return redis.pcall(unpack(command))
