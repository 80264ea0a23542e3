-- Lists the keys that connections of this server wait for, without examining any other key.
--
-- ARGV[1]  glob pattern of names
-- ARGV[2]  how many keys to return at most: those with the most waiters
-- ARGV[3]  what the channels of plain locks begin with
-- ARGV[4]  what the channels of READ and WRITE begin with
-- ARGV[5]  1: waiters subscribe with SSUBSCRIBE
--
-- Returns  {0, number of all such keys, name, waiters, name, waiters, ...}
--
-- A waiter is subscribed to a channel of the key: one connection for each process, and one channel
-- for each waiter of FAIR. The name in the channel has braces if the key has none; the lock `{a}` is
-- therefore listed as `a` unless only `{a}` exists. PUBSUB CHANNELS visits all channels of the server.

local own_glob = '????????-????-????-????-????????????*'
local own_pattern = '^(.+):%x+%-%x+%-%x+%-%x+%-%x+:?%-?%d*$'
local plain, shared, pattern = ARGV[3], ARGV[4], ARGV[1]

local function channels(glob)
  if ARGV[5] == '1' then
    return redis.call('PUBSUB', 'SHARDCHANNELS', glob)
  end
  return redis.call('PUBSUB', 'CHANNELS', glob)
end

local function subscribers(first, last, names)
  if ARGV[5] == '1' then
    return redis.call('PUBSUB', 'SHARDNUMSUB', unpack(names, first, last))
  end
  return redis.call('PUBSUB', 'NUMSUB', unpack(names, first, last))
end

local function name_of(text)
  local inner = text:match('^{([^{}]+)}$')
  if not inner or redis.pcall('EXISTS', inner) == 0 and redis.pcall('EXISTS', text) == 1 then
    return text
  end
  return inner
end

-- A process in the process queue is subscribed to `channel:in_line`, too.
local function is_second(channel, found)
  local first = channel:match('^(.*):in_line$')
  return first ~= nil and found[first] ~= nil
end

-- The names that match, without those of channels that two globs match.
local names, known = {}, {}
local function collect(glob, braced)
  local all, found = channels(glob), {}
  for _, channel in ipairs(all) do
    found[channel] = true
  end
  for _, channel in ipairs(all) do
    local inner = channel:match(':{([^{}]+)}$') or channel:match(':{([^{}]+)}:%x+%-%x+%-')
    if not known[channel] and not is_second(channel, found) and
       (braced == nil or braced == (inner == nil)) then
      known[channel] = true
      names[#names + 1] = channel
    end
  end
end
if pattern == '*' then
  collect(plain .. '*')
  collect(shared .. '*')
else
  for _, each in ipairs({{'{' .. pattern .. '}', false}, {pattern, true}}) do
    collect(plain .. each[1], each[2])
    collect(plain .. each[1] .. ':' .. own_glob, each[2])
    collect(shared .. each[1], each[2])
  end
end

-- By the text in the channel: connections on a shared channel, and waiters with one of their own,
-- those of FAIR and the processes in the process queue.
local connections, queued, texts = {}, {}, {}
local function count(channel, number)
  local text = channel:sub(#(channel:sub(1, #plain) == plain and plain or shared) + 1)
  local waited_for = text:match(own_pattern)
  local key = waited_for or text
  if not connections[key] then
    connections[key], queued[key] = 0, 0
    texts[#texts + 1] = key
  end
  if waited_for then
    queued[key] = queued[key] + number
  else
    connections[key] = math.max(connections[key], number)
  end
end
for first = 1, #names, 1000 do
  local counts = subscribers(first, math.min(first + 999, #names), names)
  for at = 1, #counts, 2 do
    count(counts[at], tonumber(counts[at + 1]))
  end
end

local function waiters(text)
  return math.max(connections[text], queued[text])
end
table.sort(texts, function(one, other)
  local left, right = waiters(one), waiters(other)
  return left > right or left == right and one < other
end)
local found = {'0', #texts}
for at = 1, math.min(#texts, tonumber(ARGV[2])) do
  found[#found + 1] = name_of(texts[at])
  found[#found + 1] = waiters(texts[at])
end
return found
