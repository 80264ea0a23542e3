-- Part: a WRITE that waits for READs to end keeps new READs out, so that they do not starve it.
--
-- Each attempt of the WRITE sets this mark, a key with a TTL that ends no later than its wait. A WRITE
-- that waits longer repeats its attempt before the mark ends. The key is not among KEYS, so a command
-- may fail: the slot is moving, or the user lacks a permission. Then nobody is kept out.
--
-- The lock `{a}` has the tag of the lock `a`, and a mark of its own.
local function waiting_writer(lock, tag)
  return 'latchkey_waiting_writer:' .. tag .. (lock == tag and ':' or '')
end

-- For how many ms new READs are kept out; 0: they are not.
local function kept_for_writer(lock, tag)
  local left = redis.pcall('PTTL', waiting_writer(lock, tag))
  return type(left) == 'number' and math.max(left, 0) or 0
end
