// Redisson's scripts, rewritten from their description: what a Java client does to the keys.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "redis/protocol/command_buffer.hpp"
#include "support/servers/redis_client.hpp"

namespace latchkey::tests {

/// One thread of a Redisson client, as the server sees it: it runs the scripts but does not wait.
/// `now` is the client's clock in epoch ms.
class JavaClient {
 public:
  JavaClient(RedisClient client, std::string owner)
      : client_(std::move(client)), owner_(std::move(owner)) {}

  [[nodiscard]] const std::string& owner() const { return owner_; }

  // RLock. lock: nil means acquired. unlock: nil means "not the owner", 0 "still held", 1 "free".
  Reply lock(const std::string& key, long long lease) {
    return eval(R"lua(
      if redis.call('exists', KEYS[1]) == 0 or redis.call('hexists', KEYS[1], ARGV[2]) == 1 then
        redis.call('hincrby', KEYS[1], ARGV[2], 1)
        redis.call('pexpire', KEYS[1], ARGV[1])
        return nil
      end
      return redis.call('pttl', KEYS[1]))lua",
                {key}, {std::to_string(lease), owner_});
  }
  Reply unlock(const std::string& key) {
    return eval(R"lua(
      if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then return nil end
      if redis.call('hincrby', KEYS[1], ARGV[1], -1) > 0 then
        redis.call('pexpire', KEYS[1], 30000)
        return 0
      end
      redis.call('del', KEYS[1])
      redis.call('publish', KEYS[2], 0)
      return 1)lua",
                {key, "redisson_lock__channel:" + tag(key)}, {owner_});
  }
  /// 1: there was a lock, whoever held it.
  Reply force_unlock(const std::string& key) {
    return eval(R"lua(
      if redis.call('del', KEYS[1]) == 0 then return 0 end
      redis.call('publish', KEYS[2], 0)
      return 1)lua",
                {key, "redisson_lock__channel:" + tag(key)}, {});
  }
  Reply force_unlock_write(const std::string& key) {
    return eval(R"lua(
      if redis.call('hget', KEYS[1], 'mode') ~= 'write' then return 0 end
      redis.call('del', KEYS[1])
      redis.call('publish', KEYS[2], 1)
      return 1)lua",
                {key, rw_channel(key)}, {});
  }

  // Read/write.
  Reply read_lock(const std::string& key, long long lease) {
    return eval(R"lua(
      local mode = redis.call('hget', KEYS[1], 'mode')
      if not mode then
        redis.call('hset', KEYS[1], 'mode', 'read')
        redis.call('hset', KEYS[1], ARGV[2], 1)
        redis.call('set', KEYS[2] .. ':1', 1, 'px', ARGV[1])
        redis.call('pexpire', KEYS[1], ARGV[1])
        return nil
      end
      local own_write = mode == 'write' and redis.call('hexists', KEYS[1], ARGV[2] .. ':write') == 1
      if mode == 'read' or own_write then
        local hold = redis.call('hincrby', KEYS[1], ARGV[2], 1)
        redis.call('set', KEYS[2] .. ':' .. hold, 1, 'px', ARGV[1])
        redis.call('pexpire', KEYS[1], math.max(redis.call('pttl', KEYS[1]), tonumber(ARGV[1])))
        return nil
      end
      return redis.call('pttl', KEYS[1]))lua",
                {key, timeouts(key)}, {std::to_string(lease), owner_});
  }
  Reply read_unlock(const std::string& key) {
    return eval(R"lua(
      local mode = redis.call('hget', KEYS[1], 'mode')
      if not mode then
        redis.call('publish', KEYS[2], 0)
        return nil
      end
      if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then return nil end
      local count = redis.call('hincrby', KEYS[1], ARGV[1], -1)
      if count == 0 then redis.call('hdel', KEYS[1], ARGV[1]) end
      redis.call('del', KEYS[3] .. ':' .. (count + 1))
      if redis.call('hlen', KEYS[1]) > 1 then
        local longest = -3
        for _, field in ipairs(redis.call('hkeys', KEYS[1])) do
          local holds = tonumber(redis.call('hget', KEYS[1], field))
          for hold = holds or 0, 1, -1 do
            local name = KEYS[4] .. ':' .. field .. ':rwlock_timeout:' .. hold
            longest = math.max(longest, redis.call('pttl', name))
          end
        end
        if longest > 0 then
          redis.call('pexpire', KEYS[1], longest)
          return 0
        end
        if mode == 'write' then return 0 end
      end
      redis.call('del', KEYS[1])
      redis.call('publish', KEYS[2], 0)
      return 1)lua",
                {key, rw_channel(key), timeouts(key), tag(key)}, {owner_});
  }
  Reply write_lock(const std::string& key, long long lease) {
    return eval(R"lua(
      local mode = redis.call('hget', KEYS[1], 'mode')
      if not mode then
        redis.call('hset', KEYS[1], 'mode', 'write')
        redis.call('hset', KEYS[1], ARGV[2], 1)
        redis.call('pexpire', KEYS[1], ARGV[1])
        return nil
      end
      if mode == 'write' and redis.call('hexists', KEYS[1], ARGV[2]) == 1 then
        redis.call('hincrby', KEYS[1], ARGV[2], 1)
        redis.call('pexpire', KEYS[1], redis.call('pttl', KEYS[1]) + ARGV[1])
        return nil
      end
      return redis.call('pttl', KEYS[1]))lua",
                {key}, {std::to_string(lease), owner_ + ":write"});
  }

  // Fair: nil is acquired, else the ms that it would wait at most. `wait` is what it takes off
  // every score when it is granted: 300 000 unless its caller gave a time.
  Reply fair_lock(const std::string& key, long long lease, long long wait, long long now) {
    return eval(drop_stale_heads + R"lua(
      local head = redis.call('lindex', KEYS[2], 0)
      if redis.call('exists', KEYS[1]) == 0 and (not head or head == ARGV[2]) then
        redis.call('lpop', KEYS[2])
        redis.call('zrem', KEYS[3], ARGV[2])
        for _, each in ipairs(redis.call('zrange', KEYS[3], 0, -1)) do
          redis.call('zincrby', KEYS[3], -tonumber(ARGV[3]), each)
        end
        redis.call('hset', KEYS[1], ARGV[2], 1)
        redis.call('pexpire', KEYS[1], ARGV[1])
        return nil
      end
      if redis.call('hexists', KEYS[1], ARGV[2]) == 1 then
        redis.call('hincrby', KEYS[1], ARGV[2], 1)
        redis.call('pexpire', KEYS[1], ARGV[1])
        return nil
      end
      if redis.call('zscore', KEYS[3], ARGV[2]) then
        return math.max(0, redis.call('pttl', KEYS[1]))
      end
      local last = redis.call('lindex', KEYS[2], -1)
      local score = last and last ~= ARGV[2] and redis.call('zscore', KEYS[3], last)
      local base = score and score - ARGV[4] or redis.call('pttl', KEYS[1])
      if redis.call('zadd', KEYS[3], base + ARGV[3] + ARGV[4], ARGV[2]) == 1 then
        redis.call('rpush', KEYS[2], ARGV[2])
      end
      return base)lua",
                fair_keys(key),
                {std::to_string(lease), owner_, std::to_string(wait), std::to_string(now)});
  }
  Reply fair_unlock(const std::string& key, long long now) {
    return eval(drop_stale_heads + R"lua(
      local function tell()
        local head = redis.call('lindex', KEYS[2], 0)
        if head then redis.call('publish', ARGV[1] .. ':' .. head, 0) end
        return 1
      end
      if redis.call('exists', KEYS[1]) == 0 then return tell() end
      if redis.call('hexists', KEYS[1], ARGV[2]) == 0 then return nil end
      if redis.call('hincrby', KEYS[1], ARGV[2], -1) > 0 then return 0 end
      redis.call('del', KEYS[1])
      return tell())lua",
                fair_keys(key),
                {"redisson_lock__channel:" + tag(key), owner_, "", std::to_string(now)});
  }
  /// Ends a wait that timed out or was interrupted. All later waiters move up.
  Reply fair_give_up(const std::string& key, long long wait) {
    return eval(R"lua(
      local behind = false
      for _, each in ipairs(redis.call('lrange', KEYS[2], 0, -1)) do
        if behind then redis.call('zincrby', KEYS[3], -tonumber(ARGV[2]), each) end
        behind = behind or each == ARGV[1]
      end
      redis.call('zrem', KEYS[3], ARGV[1])
      redis.call('lrem', KEYS[2], 0, ARGV[1])
      return 0)lua",
                fair_keys(key), {owner_, std::to_string(wait)});
  }

  // Fenced: {-1, token} is acquired, else {ms, -1}.
  Reply fenced_lock(const std::string& key, long long lease) {
    return eval(R"lua(
      if redis.call('exists', KEYS[1]) == 0 or redis.call('hexists', KEYS[1], ARGV[2]) == 1 then
        redis.call('hincrby', KEYS[1], ARGV[2], 1)
        redis.call('pexpire', KEYS[1], ARGV[1])
        return {-1, redis.call('incr', KEYS[2])}
      end
      return {redis.call('pttl', KEYS[1]), -1})lua",
                {key, "redisson_lock_token:" + tag(key)}, {std::to_string(lease), owner_});
  }

 private:
  inline static const std::string drop_stale_heads = R"lua(
      while true do
        local head = redis.call('lindex', KEYS[2], 0)
        if not head then break end
        local score = redis.call('zscore', KEYS[3], head)
        if not score or tonumber(score) > tonumber(ARGV[4]) then break end
        redis.call('zrem', KEYS[3], head)
        redis.call('lpop', KEYS[2])
      end)lua";

  static std::string tag(const std::string& key) { return "{" + key + "}"; }
  static std::string rw_channel(const std::string& key) { return "redisson_rwlock:" + tag(key); }
  [[nodiscard]] std::string timeouts(const std::string& key) const {
    return tag(key) + ":" + owner_ + ":rwlock_timeout";
  }
  static std::vector<std::string> fair_keys(const std::string& key) {
    return {key, "redisson_lock_queue:" + tag(key), "redisson_lock_timeout:" + tag(key)};
  }

  Reply eval(const std::string& script, const std::vector<std::string>& keys,
             const std::vector<std::string>& rest) {
    detail::redis::CommandBuffer buffer;
    buffer.begin(3 + keys.size() + rest.size());
    buffer.word("EVAL");
    buffer.word(script);
    buffer.number(keys.size());
    for (const std::string& each : keys) buffer.word(each);
    for (const std::string& each : rest) buffer.word(each);
    return client_.send(buffer.bytes());
  }

  RedisClient client_;
  std::string owner_;
};

}  // namespace latchkey::tests
