// The scripts that Redisson 3 sends for a plain lock.
#pragma once

namespace latchkey::bench {

/// Redisson's scripts for a plain lock, step by step, with the latch of its unlock.
inline constexpr const char* redisson_lock = R"lua(
  if redis.call('exists', KEYS[1]) == 0 or redis.call('hexists', KEYS[1], ARGV[2]) == 1 then
    redis.call('hincrby', KEYS[1], ARGV[2], 1)
    redis.call('pexpire', KEYS[1], ARGV[1])
    return nil
  end
  return redis.call('pttl', KEYS[1]))lua";
inline constexpr const char* redisson_unlock = R"lua(
  local done = redis.call('get', KEYS[3])
  if done ~= false then return tonumber(done) end
  if redis.call('hexists', KEYS[1], ARGV[3]) == 0 then return nil end
  local count = redis.call('hincrby', KEYS[1], ARGV[3], -1)
  if count > 0 then
    redis.call('pexpire', KEYS[1], ARGV[2])
    redis.call('set', KEYS[3], 0, 'px', ARGV[5])
    return 0
  end
  redis.call('del', KEYS[1])
  redis.call(ARGV[4], KEYS[2], ARGV[1])
  redis.call('set', KEYS[3], 1, 'px', ARGV[5])
  return 1)lua";

}  // namespace latchkey::bench
