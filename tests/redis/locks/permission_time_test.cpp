// A user lacks one permission: a release is noticed at once all the same, or the lock is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "redis/protocol/scripts.hpp"
#include "redis/scripts/script_fixture.hpp"
#include "support/polling.hpp"
#include "support/servers/redis_server.hpp"
#include "support/stalls.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
namespace scripts = detail::redis::scripts;

class RedisPermissionTime : public ::testing::Test {
 protected:
  /// The connection of a user that may do everything else.
  Locks without(std::string_view name, const std::string& command) {
    const std::string rule = "-" + command;
    EXPECT_FALSE(admin_({"ACL", "SETUSER", name, "reset", "on", ">secret", "~*",
                         server_.all_channels(), "+@all", command.empty() ? "+@all" : rule})
                     .is_error());
    const std::string login = std::string(name) + ":secret@127.0.0.1:";
    return Locks::connect("redis://" + login + std::to_string(server_.port()));
  }

  /// How long three waiting calls take to notice the release, all together. A call that is not
  /// notified asks once a second. Empty: a lock is refused.
  std::optional<std::chrono::nanoseconds> hand_over(const Locks& releasing, const Locks& waiting,
                                                    LockType type) {
    std::chrono::nanoseconds sum{};
    for (int times = 0; times < 3; ++times) {
      const std::string key = "k" + std::to_string(++keys_);
      try {
        Hold hold = releasing.lock(key, type).acquire(10s, 30s);
        auto waiter = std::async(std::launch::async, [&] {
          Hold its = waiting.lock(key, type).acquire(10s, 30s);
          const auto got = std::chrono::steady_clock::now();
          its.release();
          return got;
        });
        await("the waiter's subscription", [&] {
          const bool ended = waiter.wait_for(0s) == std::future_status::ready;
          const auto channels = admin_({"PUBSUB", "CHANNELS", "*{" + key + "}*"}).list();
          return ended || !channels.empty() ? "" : "nobody is subscribed";
        });
        const auto from = std::chrono::steady_clock::now();
        hold.release();
        sum += waiter.get() - from;
      } catch (const BackendRefused&) {
        return std::nullopt;
      }
    }
    return sum;
  }

  void expect_notified(const Locks& releasing, const Locks& waiting, LockType type) {
    const Stalls stalls;
    const auto took = hand_over(releasing, waiting, type);
    if (took) {
      EXPECT_LT(*took, 1'500ms + stalls.total());
    }
  }

  RedisServer server_;
  RedisClient admin_ = server_.client();

 private:
  int keys_ = 0;
};

// A user without PUBSUB or LINDEX got places in the process queue, and no release could grant it
// the lock, or told it.
TEST_F(RedisPermissionTime, AReleaseIsNoticedAtOnceWithoutAnyOfTheCommandsOfTheQueues) {
  std::set<std::string> commands;
  for (const detail::redis::Script* const each :
       {&scripts::acquire, &scripts::acquire_fenced, &scripts::acquire_write,
        &scripts::acquire_fair, &scripts::release, &scripts::release_write,
        &scripts::release_fair}) {
    commands.merge(commands_of(*each));
  }
  for (const std::string_view none_is_told : {"publish", "hdel"}) {  // HDEL: nothing is connected
    commands.erase(std::string(none_is_told));
  }
  for (const std::string& command : commands) {
    const Locks one = without("app", command), other = without("app", command);
    for (const LockType type :
         {LockType::REENTRANT, LockType::FENCED, LockType::WRITE, LockType::FAIR}) {
      SCOPED_TRACE(std::string(to_string(type)) + " without " + command);
      expect_notified(one, other, type);
    }
  }
}

TEST_F(RedisPermissionTime, AUserThatMayNotGrantTellsTheFirstInTheQueue) {
  const Locks able = without("able", "");
  for (const std::string command : {"pubsub", "time", "hget"}) {
    SCOPED_TRACE(command);
    expect_notified(without("app", command), able, LockType::REENTRANT);
    expect_notified(able, without("app", command), LockType::REENTRANT);
  }
}

}  // namespace
}  // namespace latchkey::tests
