-- Part: the semaphores of one page of SCAN, in the layout of permits.lua. Appends the names of those with
-- a permit that is taken, if the user of the connection may read them. A page of sorted sets has the
-- same cursor as that of hashes.

local function append_semaphores(found, cursor, pattern, count)
  local time = redis.pcall('TIME')
  local now = time.err and 0 or time[1] * 1000 + math.floor(time[2] / 1000)
  -- The set of the semaphore `a` is `{a}:timeout`, that of `a{b}` is `a{b}:timeout`.
  local globs = {'*:timeout'}
  if pattern ~= '*' then
    globs = {'{' .. pattern .. '}:timeout', pattern .. ':timeout'}
  end
  for at, glob in ipairs(globs) do
    for _, set in ipairs(redis.call('SCAN', cursor, 'MATCH', glob, 'COUNT', count, 'TYPE', 'zset')[2]) do
      local inner = set:match('^{([^{}]+)}:timeout$')
      local expected = #globs == 1 or (at == 1) == (inner ~= nil)
      local taken = expected and redis.pcall('ZRANGEBYSCORE', set, '(' .. now, '+inf', 'LIMIT', '0', '1')[1]
      local name = inner or set:sub(1, -#':timeout' - 1)
      if taken and #taken == 16 and redis.pcall('TYPE', name).ok == 'string' then
        found[#found + 1] = name
      end
    end
  end
end
