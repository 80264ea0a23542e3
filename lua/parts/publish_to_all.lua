-- Part: notifies all waiters of a lock of READ and WRITE. Returns how many connections.
--
-- To the message 1 a Redisson client wakes as many of its threads as sleep. One that has just found
-- the lock busy, and does not sleep yet, would miss it and sleep until the lease ends. 00 is a 0 to
-- Redisson, which counts for such a thread too; latchkey ignores it.
local function publish_to_all(channel, sharded)
  local notified = notify(channel, '1', sharded)
  if notified > 0 then
    publish(channel, '00', sharded)
  end
  return notified
end
