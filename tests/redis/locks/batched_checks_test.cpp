// Many held locks: their renewals and verifications are sent together.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <latchkey/locks.hpp>

#include "support/event_counter.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

/// How often the server has run scripts.
long long calls(RedisClient& client) {
  long long sum = 0;
  const std::string text = client({"INFO", "commandstats"}).text();
  for (const std::string_view command : {"cmdstat_eval:calls=", "cmdstat_evalsha:calls="}) {
    const std::size_t at = text.find(command);
    if (at != std::string::npos) sum += std::stoll(text.substr(at + command.size()));
  }
  return sum;
}

class BatchedChecks : public ::testing::Test {
 protected:
  static constexpr int count = 400;

  void hold_all(const Locks& locks, Lease lease) {
    for (int number = 0; number < count; ++number) {
      const LockType type = number % 3 == 0   ? LockType::READ
                            : number % 3 == 1 ? LockType::WRITE
                                              : LockType::REENTRANT;
      holds_.push_back(locks.lock("k" + std::to_string(number), type).acquire(1s, lease));
    }
  }

  [[nodiscard]] long lost() const {
    return std::ranges::count_if(holds_, [](const Hold& hold) { return hold.lost(); });
  }

  RedisServer server_;
  RedisClient client_ = server_.client();
  EventCounter events_;  // outlives the holds
  std::vector<Hold> holds_;
};

TEST_F(BatchedChecks, OfHoldsTakenAtDifferentTimesAreFewCalls) {
  constexpr int rounds = 3;
  const Locks locks = Locks::connect(server_.unix_uri(), {.watchdog = 3s, .listener = &events_});
  hold_all(locks, watchdog);
  client_({"CONFIG", "RESETSTAT"});
  ASSERT_TRUE(events_.await(Event::Kind::renewed, rounds * count));
  // A hold is renewed up to an eighth of the interval early, so that at most 16 rounds are due in
  // one interval, of which each may have a batch that is not full.
  const long long full = rounds * count / 100;
  EXPECT_LE(calls(client_), full + 16 * (rounds + 1));
  EXPECT_EQ(lost(), 0);
}

TEST_F(BatchedChecks, DeletedKeysAndForeignValuesAreLostAndNoOthers) {
  const Locks locks = Locks::connect(server_.unix_uri(), {.watchdog = 600ms, .listener = &events_});
  hold_all(locks, watchdog);
  for (const int number : {1, 100, 399}) client_({"DEL", "k" + std::to_string(number)});
  for (const int number : {2, 200}) {
    client_({"SET", "k" + std::to_string(number), "no lock"});
  }
  ASSERT_TRUE(events_.await(Event::Kind::lost, 5));
  for (const std::size_t number : {1U, 2U, 100U, 200U, 399U}) {
    EXPECT_TRUE(holds_[number].lost()) << number;
  }
  EXPECT_EQ(lost(), 5);
}

TEST_F(BatchedChecks, ReconnectionVerifiesAllHoldsByFewCalls) {
  const Locks locks = Locks::connect(server_.unix_uri(), {.listener = &events_});
  hold_all(locks, 60s);
  client_({"DEL", "k7"});
  client_({"CONFIG", "RESETSTAT"});
  client_({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  ASSERT_TRUE(events_.await(Event::Kind::lost));
  EXPECT_TRUE(holds_[7].lost());
  EXPECT_EQ(lost(), 1);
  EXPECT_LE(calls(client_), count / 20);
}

}  // namespace
}  // namespace latchkey::tests
