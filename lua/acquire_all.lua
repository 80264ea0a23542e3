-- Takes several locks at once, or none of them and returns the first that is busy.
--
-- KEYS     for each member: the lock; FENCED and FENCED_WRITE: also its token; READ: also the key with the lease
-- ARGV[1]  lease, ms
-- ARGV[2]  how many tokens to reserve
-- ARGV     then for each member: REENTRANT, FENCED, READ, WRITE or FENCED_WRITE, a WRITE with a
--          fencing token; owner (WRITE: followed by ":write"); READ and WRITE: tag
--
-- Returns  0: granted, and no member with a token
--          token: granted, the last of those reserved; the same for all members with one
--          {ms, owner, member}: busy; member is the index of the first busy lock, from 0
--
-- Each member is taken as by its own acquire script, which explains the details. All members are
-- checked before the first is changed. Keys are distinct, and no member is FAIR.

--#include parts/holder.lua
--#include parts/ttl.lua
--#include parts/dead_readers.lua
--#include parts/waiting_writer.lua

local lease = tonumber(ARGV[1])
local members, key, word = {}, 1, 3
while word <= #ARGV do
  local member = {type = ARGV[word], owner = ARGV[word + 1], lock = KEYS[key]}
  key, word = key + 1, word + 2
  member.fenced = member.type:sub(1, 6) == 'FENCED'
  if member.fenced or member.type == 'READ' then
    member.beside = KEYS[key]
    key = key + 1
  end
  if member.type == 'FENCED_WRITE' then
    member.type = 'WRITE'
  end
  if member.type == 'READ' or member.type == 'WRITE' then
    member.tag = ARGV[word]
    word = word + 1
  end
  members[#members + 1] = member
end

local function in_the_way(member)
  local mode = redis.call('HGET', member.lock, 'mode')
  if member.type == 'READ' then
    return mode ~= 'read'
  end
  local plain = member.type ~= 'WRITE'
  return (plain and mode) or redis.call('HEXISTS', member.lock, member.owner) == 0
end

local function look_at_read(member)
  local own = ttl(member.beside)
  member.longest = math.max(lease, own)
  member.joins = own == -2 or redis.call('HEXISTS', member.lock, member.owner) == 0
  member.dead = member.free and {} or dead_readers(member.lock, member.tag, member.owner)
end

local fresh, token = false, 0
for index, member in ipairs(members) do
  member.free = redis.call('EXISTS', member.lock) == 0
  if not member.free then
    member.left = redis.call('PTTL', member.lock)
    if in_the_way(member) then
      return {member.left, holder(member.lock), index - 1}
    end
  end
  if member.type == 'READ' then
    look_at_read(member)
    local kept = kept_for_writer(member.lock, member.tag)
    if member.joins and kept > 0 then
      return {kept, holder(member.lock), index - 1}
    end
  end
  if member.fenced then
    local last = tonumber(redis.call('GET', member.beside) or 0) or 0
    fresh, token = fresh or member.free or last < 1, math.max(token, last)
  end
end

if fresh then
  local time = redis.call('TIME')
  token = math.max(token + ARGV[2], time[1] * 1000000 + time[2])
  if not (token < 9007199254740992) then -- a key may contain nan
    return redis.error_reply('ERR the fencing token has reached 2^53, beyond which Lua cannot count')
  end
end

local function take_read(member)
  if member.joins then
    redis.call('SET', member.beside, '1', 'PX', member.longest)
    redis.call('HSET', member.lock, 'mode', 'read', member.owner, '1')
  else
    redis.call('PEXPIRE', member.beside, member.longest)
  end
  drop_readers(member.lock, member.dead)
end

for _, member in ipairs(members) do
  local longest = member.longest or lease
  if member.fenced and fresh then
    redis.call('SET', member.beside, string.format('%.0f', token))
  end
  if member.type == 'READ' then
    take_read(member)
  elseif member.free and member.type == 'WRITE' then
    redis.call('HSET', member.lock, 'mode', 'write', member.owner, '1')
  elseif member.free then
    redis.call('HSET', member.lock, member.owner, '1')
  end
  if member.free and redis.pcall('PEXPIRE', member.lock, longest) ~= 1 then
    redis.call('HDEL', member.lock, 'mode', member.owner)
    redis.call('PEXPIRE', member.lock, longest) -- see acquire.lua
    return false
  elseif not member.free and member.left < longest then
    redis.call('PEXPIRE', member.lock, longest)
  end
  if member.type == 'WRITE' then
    redis.pcall('DEL', waiting_writer(member.lock, member.tag))
  end
end
return token
