// Fixture of the FAIR script tests: reads and writes the queue and its scores.
#pragma once

#include "redis/scripts/script_fixture.hpp"

namespace latchkey::tests {

inline constexpr auto fair = LockType::FAIR;
inline constexpr std::string_view queue_key = "redisson_lock_queue:{k}";
inline constexpr std::string_view scores_key = "redisson_lock_timeout:{k}";

class FairScripts : public ScriptTest {
 protected:
  Outcome acquire(std::uint64_t number, milliseconds wait = queue_wait) {
    return client.acquire("k", fair, id(number), lease, wait);
  }
  Kind release(std::uint64_t number) {
    return client.send(Verb::release, "k", fair, id(number)).kind;
  }
  Kind leave(std::uint64_t number) { return client.send(Verb::leave, "k", fair, id(number)).kind; }
  Names queue() { return redis({"LRANGE", queue_key, "0", "-1"}).list(); }
  static Names owners(std::initializer_list<std::uint64_t> numbers) {
    Names names;
    for (const auto number : numbers) names.push_back(owner(number));
    return names;
  }
  /// The time in ms until the waiter's score is reached. 0 if it has no score.
  long long score(const std::string& who) {
    const std::string text = redis({"ZSCORE", scores_key, who}).text();
    return text.empty() ? 0 : std::stoll(text) - now_ms();
  }
  void set_score(const std::string& who, long long from_now) {
    redis({"ZADD", scores_key, std::to_string(now_ms() + from_now), who});
  }
  /// A Java waiter is the last of the queue.
  void java_waits(int number, long long from_now) {
    redis({"RPUSH", queue_key, java_owner(number)});
    set_score(java_owner(number), from_now);
  }
  void expect_score(std::uint64_t number, long long expected) {
    expect_score(owner(number), expected);
  }
  /// Allows 5 s for a busy machine, and the 4 s by which our scripts round scores down.
  void expect_score(const std::string& who, long long expected) {
    const long long left = score(who);
    EXPECT_LE(left, expected) << who;
    EXPECT_GT(left, expected - 9'000) << who;
  }
  /// The longest time that a Java waiter may have waited before a script of ours saw it.
  static constexpr long long unseen = 1'800'000;
  static std::string channel_of(std::uint64_t number) {
    return "redisson_lock__channel:{k}:" + owner(number);
  }
  static std::string java_channel(int number) {
    return "redisson_lock__channel:{k}:" + java_owner(number);
  }
};

}  // namespace latchkey::tests
