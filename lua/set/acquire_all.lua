-- Takes several SET NX PX locks at once, or none of them and returns the first that is busy.
--
-- KEYS     for each member: the lock; FENCED: also its token
-- ARGV[1]  lease, ms
-- ARGV[2]  how many tokens to reserve
-- ARGV     then for each member: REENTRANT or FENCED; owner
--
-- Returns  0: granted, and no FENCED member
--          token: granted, the last of those reserved; the same for all FENCED members
--          {ms, owner, member}: busy; member is the index of the first busy lock, from 0
--
-- Each member is taken as by its own acquire script. All members are checked before the first is
-- changed. Keys are distinct.

local lease = tonumber(ARGV[1])
local members, fresh, token, key = {}, false, 0, 1
for word = 3, #ARGV, 2 do
  local member = {lock = KEYS[key], owner = ARGV[word + 1]}
  local holder = redis.call('GET', member.lock)
  if holder and holder ~= member.owner then
    return {redis.call('PTTL', member.lock), holder, #members}
  end
  member.held = holder
  if ARGV[word] == 'FENCED' then
    key = key + 1
    member.token = KEYS[key]
    local last = tonumber(redis.call('GET', member.token) or 0) or 0
    fresh, token = fresh or not holder or last < 1, math.max(token, last)
  end
  key = key + 1
  members[#members + 1] = member
end

if fresh then
  local time = redis.call('TIME')
  token = math.max(token + ARGV[2], time[1] * 1000000 + time[2])
  if not (token < 9007199254740992) then -- a key may contain nan
    return redis.error_reply('ERR the fencing token has reached 2^53, beyond which Lua cannot count')
  end
end
for _, member in ipairs(members) do
  if member.token and fresh then
    redis.call('SET', member.token, string.format('%.0f', token))
  end
  if not member.held then
    redis.call('SET', member.lock, member.owner, 'NX', 'PX', ARGV[1])
  elseif redis.call('PTTL', member.lock) < lease then
    redis.call('PEXPIRE', member.lock, ARGV[1])
  end
end
return token
