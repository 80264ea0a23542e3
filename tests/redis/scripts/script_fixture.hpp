// Sends requests to a real server without a backend, to test the Lua scripts alone.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/backend.hpp>

#include "redis/protocol/check_batch.hpp"
#include "redis/protocol/script_call.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::tests {

using detail::redis::CallSettings;
using std::chrono::milliseconds;
using Kind = Outcome::Kind;

/// Sends a request as a connection does: by EVALSHA, and by EVAL if the server lacks the script.
class ScriptClient {
 public:
  explicit ScriptClient(RedisClient client, CallSettings settings = {})
      : client_(std::move(client)), settings_(settings) {}

  Outcome send(const Request& request) {
    const Reply reply = send_for_reply(request);
    return detail::redis::read_outcome(request, reply.raw(), *settings_.layout);
  }
  Reply send_for_reply(const Request& request, std::uint64_t cursor = 0) {
    buffer_.clear();
    append_evalsha(buffer_, request, settings_, cursor);
    Reply reply = client_.send(buffer_.bytes());
    if (!detail::redis::is_noscript(reply.raw())) return reply;
    buffer_.clear();
    append_eval(buffer_, request, settings_, cursor);
    return client_.send(buffer_.bytes());
  }

  /// Renewals and verifications as one call.
  detail::redis::CheckAnswers check(std::span<const Request* const> requests) {
    buffer_.clear();
    append_check_batch(buffer_, requests, true, *settings_.layout);
    return detail::redis::read_check_answers(client_.send(buffer_.bytes()).raw());
  }

  Outcome acquire(std::string_view key, LockType type, const HoldId& id, milliseconds lease,
                  milliseconds queue_wait = {}, std::uint32_t tokens = 1) {
    Request request = make_request(Verb::acquire, key, type, id, lease);
    request.queue_wait = queue_wait;
    request.tokens = tokens;
    return send(request);
  }
  Outcome renew(std::string_view key, LockType type, const HoldId& id, milliseconds lease) {
    return send(make_request(Verb::renew, key, type, id, lease));
  }
  Outcome downgrade(std::string_view key, const HoldId& id, milliseconds lease) {
    return send(make_request(Verb::downgrade, key, LockType::WRITE, id, lease));
  }
  /// For verify, release, leave and force_release.
  Outcome send(Verb verb, std::string_view key, LockType type = LockType::REENTRANT,
               const HoldId& id = {}) {
    return send(make_request(verb, key, type, id));
  }
  LockInfo inspect(std::string_view key) {
    LockInfo info;
    Request request = make_request(Verb::inspect, key);
    request.info = &info;
    EXPECT_EQ(send(request).kind, Kind::granted);
    return info;
  }
  std::vector<std::string> list(std::string_view pattern) {
    std::vector<std::string> names;
    Request request = make_request(Verb::list, pattern);
    request.names = &names;
    std::uint64_t cursor = 0;
    do {
      const Reply page = send_for_reply(request, cursor);
      EXPECT_EQ(detail::redis::read_outcome(request, page.raw(), *settings_.layout).kind,
                Kind::granted);
      cursor = detail::redis::list_cursor(page.raw());
    } while (cursor != 0);
    return names;
  }

  static Request make_request(Verb verb, std::string_view key, LockType type = LockType::REENTRANT,
                              const HoldId& id = {}, milliseconds lease = {}) {
    Request request;
    request.verb = verb;
    request.key = key;
    request.type = type;
    request.id = id;
    request.lease = lease;
    return request;
  }

 private:
  RedisClient client_;
  CallSettings settings_;
  detail::redis::CommandBuffer buffer_;
};

/// Subscribes to channels and returns their messages one by one.
class Subscriber {
 public:
  Subscriber(const RedisServer& server, std::vector<std::string> channels, bool sharded = false)
      : client_(server.client()),
        publisher_(server.client()),
        channels_(std::move(channels)),
        publish_(sharded ? "SPUBLISH" : "PUBLISH") {
    for (const std::string& channel : channels_) {
      client_({sharded ? "SSUBSCRIBE" : "SUBSCRIBE", channel});
    }
  }
  /// Waits for the next message and returns "channel message".
  std::string next() {
    const auto message = client_.receive(std::chrono::seconds(10));
    if (!message) return "nothing for 10 s";
    const auto texts = message->list();
    return texts.size() == 3 ? texts[1] + ' ' + texts[2] : "not a message";
  }
  /// True if next() has returned every message that was published so far.
  bool received_nothing_else() {
    publisher_({publish_, channels_.front(), "end"});
    return next() == channels_.front() + " end";
  }

 private:
  RedisClient client_, publisher_;
  std::vector<std::string> channels_;
  std::string publish_;
};

/// The commands that a script calls, in lower case, found in its text.
inline std::set<std::string> commands_of(const detail::redis::Script& script) {
  std::set<std::string> commands;
  constexpr std::string_view call = "call('";
  for (std::size_t at = 0; (at = script.text.find(call, at)) != std::string_view::npos;) {
    at += call.size();
    std::string command(script.text.substr(at, script.text.find('\'', at) - at));
    std::ranges::transform(command, command.begin(), [](char each) {
      return static_cast<char>(std::tolower(static_cast<unsigned char>(each)));
    });
    commands.insert(std::move(command));
  }
  commands.erase("spublish");  // like publish, and unknown before Redis 7
  return commands;
}

class ScriptTest : public ::testing::Test {
 protected:
  ScriptTest() = default;
  explicit ScriptTest(RedisServerOptions options) : server(std::move(options)) {}

  static constexpr milliseconds lease{60'000};
  static constexpr milliseconds queue_wait{15'000};

  /// An id that is the same in every run.
  static HoldId id(std::uint64_t number) {
    return {{0x6ad76760e86c8273, 0xa5a4ad3e58e61a2b}, number};
  }
  static std::string owner(std::uint64_t number) { return id(number).text(); }
  /// The owner of a thread of a Java client.
  static std::string java_owner(int number) {
    return "0d7d1a6e-5b0c-4d3c-9a55-2f0e6f1c9b7a:" + std::to_string(number);
  }

  /// The key that a reader's lease ends with. `tag` is the lock's name in braces.
  static std::string timeout_key(std::string_view tag, std::uint64_t number) {
    return std::string(tag) + ":" + owner(number) + ":rwlock_timeout:1";
  }
  /// Ends the lease of one reader. The lock's hash stays.
  void end_read_lease(std::uint64_t number, std::string_view tag = "{k}") {
    redis({"DEL", timeout_key(tag, number)});
  }

  std::map<std::string, std::string> hash(std::string_view key) {
    std::map<std::string, std::string> fields;
    const auto texts = redis({"HGETALL", key}).list();
    for (std::size_t at = 0; at + 1 < texts.size(); at += 2) fields[texts[at]] = texts[at + 1];
    return fields;
  }
  std::vector<std::string> keys() {
    auto names = redis({"KEYS", "*"}).list();
    std::ranges::sort(names);
    return names;
  }
  long long pttl(std::string_view key) { return redis({"PTTL", key}).integer(); }
  /// Expects a time to live of `expected`, or up to 5 s less on a busy machine.
  void expect_ttl(std::string_view key, milliseconds expected) {
    const long long left = pttl(key);
    EXPECT_LE(left, expected.count()) << key;
    EXPECT_GT(left, expected.count() - 5'000) << key;
  }
  /// `idle` lets the lock `k` become idle: its reply says whether somebody waits.
  void expect_knows_who_waits(const Request& idle) {
    for (const char* const queue : {"latchkey_process_queue:{k}", "redisson_lock_queue:{k}"}) {
      redis({"SET", queue, "somebody"});
      EXPECT_TRUE(client.send(idle).wanted) << queue;
      redis({"DEL", queue});
    }
    for (const char* const channel : {"redisson_lock__channel:{k}", "redisson_rwlock:{k}"}) {
      const Subscriber listener = subscribe({channel});
      EXPECT_TRUE(client.send(idle).wanted) << channel;
    }
  }
  /// The server's clock in epoch ms.
  long long now_ms() {
    const auto time = redis({"TIME"}).list();
    return std::stoll(time.at(0)) * 1000 + std::stoll(time.at(1)) / 1000;
  }
  /// Simulates that time passes: shortens every time to live and lowers every score by `time`. The
  /// fraction of a score says when it was written, in steps of 4 s (lua/parts/fair_queue.lua).
  void pass(milliseconds time) { let_pass(redis, time); }
  static void let_pass(RedisClient& redis, milliseconds time) {
    redis({"EVAL", R"lua(
      for _, key in ipairs(redis.call('KEYS', '*')) do
        if redis.call('TYPE', key).ok == 'zset' then
          local scores = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
          for at = 1, #scores, 2 do
            local score = tonumber(scores[at + 1])
            local mark = score % 1 * 2048
            if mark >= 1 then
              mark = (mark - 1 - math.floor(ARGV[1] / 4000)) % 2047 + 1
            end
            redis.call('ZADD', key, math.floor(score) - ARGV[1] + mark / 2048, scores[at])
          end
        end
        local left = redis.call('PTTL', key)
        if left > tonumber(ARGV[1]) then
          redis.call('PEXPIRE', key, left - ARGV[1])
        elseif left > 0 then
          redis.call('DEL', key)
        end
      end)lua",
           "0", std::to_string(time.count())});
  }
  /// A connection of a user that has exactly these permissions.
  RedisClient client_of_user(std::initializer_list<std::string_view> rules) {
    std::vector<std::string_view> words{"ACL", "SETUSER", "app", "reset", "on", "nopass"};
    for (const std::string_view rule : rules) {
      // Before Redis 6.2 there are no rules for channels.
      if (rule != "resetchannels" || server.version() >= 602) words.push_back(rule);
    }
    detail::redis::CommandBuffer buffer;
    buffer.begin(words.size());
    for (const std::string_view word : words) buffer.word(word);
    EXPECT_EQ(redis.send(buffer.bytes()).text(), "OK");
    RedisClient user = server.client();
    EXPECT_EQ(user({"AUTH", "app", "any"}).text(), "OK");
    return user;
  }
  ScriptClient as_user(std::initializer_list<std::string_view> rules) {
    return ScriptClient(client_of_user(rules));
  }
  Subscriber subscribe(std::vector<std::string> channels) { return {server, std::move(channels)}; }

  RedisServer server;
  RedisClient redis = server.client();
  ScriptClient client{server.client()};
};

/// The user of the tests may not use `command` for as long as it lives.
class Forbidden {
 public:
  Forbidden(RedisClient& redis, std::string command) : redis_(redis), command_(std::move(command)) {
    redis_({"ACL", "SETUSER", "default", "-" + command_});
  }
  Forbidden(const Forbidden&) = delete;
  Forbidden& operator=(const Forbidden&) = delete;
  ~Forbidden() { redis_({"ACL", "SETUSER", "default", "+" + command_}); }

 private:
  RedisClient& redis_;
  const std::string command_;
};

using Fields = std::map<std::string, std::string>;
using Names = std::vector<std::string>;

}  // namespace latchkey::tests
