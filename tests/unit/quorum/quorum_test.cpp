// Locks over five servers. Each of them may be down, frozen, slow, or restarted empty.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/quorum.hpp>

#include "support/failing_backend.hpp"
#include "support/recorder.hpp"
#include "support/servers/many_servers.hpp"
#include "support/stalls.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using tests::ConnectionState;

class QuorumTest : public ::testing::Test {
 protected:
  [[nodiscard]] Locks connect(tests::ConnectionStates<5>& states, Options options = {}) {
    return Locks(make_quorum(states.connect(stores_), options), options);
  }
  [[nodiscard]] int locked(std::string_view key) {
    int count = 0;
    for (tests::Store& store : stores_) count += store.locked(key) ? 1 : 0;
    return count;
  }

  std::array<tests::Store, 5> stores_;
  tests::ConnectionStates<5> states_, their_states_;
};

TEST_F(QuorumTest, AcquiresAndReleasesOnAllServers) {
  const Locks locks = connect(states_);
  Hold hold = locks.lock("k").acquire(0ms, 30s);
  EXPECT_TRUE(tests::eventually([&] { return locked("k") == 5; }));
  EXPECT_FALSE(connect(their_states_).lock("k").try_acquire());
  EXPECT_TRUE(hold.extend(60s));
  EXPECT_TRUE(hold.release());
  EXPECT_TRUE(connect(their_states_).lock("k").try_acquire());
}

// A server that missed the downgrade was sent the release of a READ and kept its WRITE.
TEST_F(QuorumTest, AReadIsReleasedOnAServerThatMissedItsDowngrade) {
  const Locks locks = connect(states_);
  Hold write = locks.lock("k", LockType::WRITE).acquire(0ms, 30s);
  Hold read = locks.lock("k", LockType::READ).acquire(0ms, 30s);
  ASSERT_TRUE(tests::eventually([&] { return locked("k") == 5; }));
  states_[1] = ConnectionState::down;
  EXPECT_TRUE(write.release());
  states_[1] = ConnectionState::open;
  EXPECT_TRUE(read.release());
  EXPECT_TRUE(tests::eventually([&] { return locked("k") == 0; }));
}

// Tries every set of servers with every fault. A faulty minority changes nothing. With a faulty
// majority the error lists the reply of each server, and no key is left on those that reply.
TEST_F(QuorumTest, OnlyAMajorityOfFaultyServersMakesCallsFail) {
  const Locks locks = connect(states_);
  for (const ConnectionState trouble :
       {ConnectionState::down, ConnectionState::frozen, ConnectionState::slow}) {
    for (unsigned mask = 0; mask < 32; ++mask) {
      SCOPED_TRACE("mask " + std::to_string(mask) + ", trouble " +
                   std::to_string(static_cast<int>(trouble)));
      const std::string key =
          "k" + std::to_string(32 * static_cast<int>(trouble)) + "." + std::to_string(mask);
      states_.set(mask, trouble);
      const bool works = trouble == ConnectionState::slow || std::popcount(mask) <= 2;
      const tests::Stalls stalls;
      const auto start = std::chrono::steady_clock::now();
      try {
        std::optional<Hold> hold = locks.lock(key).try_acquire(0ms, 10s);
        EXPECT_TRUE(works);
        ASSERT_TRUE(hold);
        EXPECT_FALSE(hold->lost());
        EXPECT_TRUE(hold->extend(20s));
        EXPECT_TRUE(hold->release());
      } catch (const BackendUnavailable& error) {
        EXPECT_FALSE(works) << error.what();
        EXPECT_THAT(error.what(), HasSubstr(" of 5 servers answered, 3 are needed: server1 "));
        EXPECT_THAT(error.what(),
                    HasSubstr(trouble == ConnectionState::down ? "gave no answer (connection"
                                                               : "gave no answer (within 50 ms"));
      }
      EXPECT_LT(std::chrono::steady_clock::now() - start, 3s + stalls.total());
      states_.set(ConnectionState::open);
      EXPECT_TRUE(tests::eventually([&] {
        // A waiting call drives the connections, so it completes the remaining releases, too.
        static_cast<void>(locks.lock("other").try_acquire(0ms, 10s));
        return locked(key) == 0;
      }));
    }
  }
}

TEST_F(QuorumTest, AGrantOfAMinorityIsReleased) {
  const Locks locks = connect(states_), theirs = connect(their_states_);
  their_states_.set(0b00011, ConnectionState::down);
  const Hold busy = theirs.lock("k").acquire(0ms, 30s);
  EXPECT_EQ(locked("k"), 3);
  EXPECT_THROW(static_cast<void>(locks.lock("k").acquire(0ms, 30s)), LockTimeout);
  EXPECT_TRUE(tests::eventually([&] {
    static_cast<void>(locks.lock("other").try_acquire(0ms, 10s));
    return locked("k") == 3;
  }));
}

// Without another request: the next may be long in coming, and the lease is.
TEST_F(QuorumTest, AGrantOfAMinorityIsReleasedBeforeTheAttemptFails) {
  const Locks locks = connect(states_), theirs = connect(their_states_);
  their_states_.set(0b00011, ConnectionState::down);
  const Hold busy = theirs.lock("k").acquire(0ms, 30s);
  ASSERT_EQ(locked("k"), 3);
  for (int attempt = 0; attempt < 20; ++attempt) {
    EXPECT_FALSE(locks.lock("k").try_acquire(0ms, 30s));
    EXPECT_EQ(locked("k"), 3);
  }
}

// The story that RedLock is known to fail: a server forgets its grant and gives it to another.
TEST_F(QuorumTest, AHoldThatAServerForgotIsLostToTheNextMajority) {
  tests::Recorder recorder;
  const Locks first = connect(states_, {.watchdog = 900ms, .listener = &recorder});
  const Locks second = connect(their_states_);
  states_.set(0b11000, ConnectionState::down);
  Hold mine = first.lock("k").acquire(0ms);
  EXPECT_EQ(locked("k"), 3);
  stores_[2].restart_empty();
  their_states_.set(0b00011, ConnectionState::down);
  const Hold theirs = second.lock("k").acquire(0ms, 30s);
  EXPECT_EQ(locked("k"), 5);
  states_.set(ConnectionState::open);
  EXPECT_TRUE(recorder.await(Event::Kind::lost));
  EXPECT_TRUE(mine.lost());
  EXPECT_FALSE(mine.release());
  EXPECT_FALSE(theirs.lost());
  // Its remaining holds on {1,2} are released, so the next acquire finds them free.
  EXPECT_TRUE(tests::eventually([&] {
    static_cast<void>(first.lock("other").try_acquire(0ms, 10s));
    return locked("k") == 3;
  }));
}

TEST_F(QuorumTest, AServerThatForgotItsGrantCountsAgainAfterTheNextRenewal) {
  const Locks locks = connect(states_);
  Hold hold = locks.lock("k").acquire(0ms, 30s);
  ASSERT_TRUE(tests::eventually([&] { return locked("k") == 5; }));
  stores_[0].restart_empty();
  stores_[1].restart_empty();
  EXPECT_TRUE(hold.extend(40s));
  EXPECT_TRUE(tests::eventually([&] {
    static_cast<void>(locks.lock("other").try_acquire(0ms, 10s));
    return locked("k") == 5;
  }));
  stores_[2].restart_empty();
  stores_[3].restart_empty();
  EXPECT_TRUE(hold.extend(50s)) << "two that forgot, and two that were acquired again";
  for (tests::Store& store : stores_) store.restart_empty();
  EXPECT_FALSE(hold.extend(60s));
  EXPECT_TRUE(hold.lost());
}

TEST_F(QuorumTest, ReadersShareAndWritersDoNot) {
  const Locks one = connect(states_), other = connect(their_states_);
  {
    const Hold reader = one.lock("k", LockType::READ).acquire(0ms, 30s);
    EXPECT_TRUE(other.lock("k", LockType::READ).try_acquire(0ms, 30s));
    EXPECT_FALSE(other.lock("k", LockType::WRITE).try_acquire(0ms, 30s));
  }
  EXPECT_TRUE(other.lock("k", LockType::WRITE).try_acquire(5s, 30s));
}

TEST_F(QuorumTest, UnsupportedTypesAndRequestsAreRefused) {
  const Locks locks = connect(states_);
  for (const LockType type : {LockType::FAIR, LockType::FENCED}) {
    try {
      static_cast<void>(locks.lock("k", type));
      FAIL() << to_string(type);
    } catch (const std::invalid_argument& error) {
      EXPECT_EQ(std::string(error.what()),
                "quorum of server1 server2 server3 server4 server5 offers no " +
                    std::string(to_string(type)) + " locks");
    }
  }
  try {
    static_cast<void>(locks.inspect("k"));
    FAIL() << "a quorum is not looked into";
  } catch (const BackendRefused& error) {
    EXPECT_THAT(error.what(), HasSubstr("a quorum offers no inspect: ask its servers one by one"));
  }
}

TEST_F(QuorumTest, NeedsAnOddNumberOfAtLeastThreeServers) {
  for (const char* const uri : {"quorum:", "quorum:memory:", "quorum:memory:a memory:b",
                                "quorum:memory:a  memory:b memory:c memory:d"}) {
    EXPECT_THROW(static_cast<void>(Locks::connect(uri)), std::invalid_argument) << uri;
  }
  EXPECT_THROW(static_cast<void>(Locks::connect("quorum:memory:a memory:b quorum:memory:c")),
               std::invalid_argument);
  const Locks locks = Locks::connect("quorum: memory:q1  memory:q2 memory:q3");
  EXPECT_EQ(locks.describe(), "quorum of memory:q1 memory:q2 memory:q3");
  const Hold hold = locks.lock("k").acquire(forever);
  EXPECT_TRUE(Locks::connect("memory:q2").inspect("k").locked);
}

TEST_F(QuorumTest, TakesBackendsOfAnyKind) {
  tests::Faults faults;
  std::vector<std::unique_ptr<Backend>> mixed = states_.connect(stores_);
  mixed.resize(4);
  mixed.push_back(std::make_unique<tests::FailingBackend>(faults));
  const Locks locks(make_quorum(std::move(mixed)));
  EXPECT_THROW(static_cast<void>(locks.lock("k", LockType::READ)), std::invalid_argument);
  faults.silent = true;
  Hold hold = locks.lock("k").acquire(0ms, 30s);
  faults.silent = false;
  EXPECT_TRUE(hold.release());
}

TEST_F(QuorumTest, ManyThreadsExcludeEachOther) {
  const Locks one = connect(states_), other = connect(their_states_);
  states_[1] = ConnectionState::frozen;
  their_states_[4] = ConnectionState::down;
  int counter = 0;
  std::vector<std::thread> crowd;
  for (int number = 0; number < 4; ++number) {
    crowd.emplace_back([&, number] {
      const Locks& locks = number % 2 == 0 ? one : other;
      for (int round = 0; round < 25; ++round) {
        const Hold hold = locks.lock("k").acquire(60s, 30s);
        ++counter;
      }
    });
  }
  for (std::thread& thread : crowd) thread.join();
  EXPECT_EQ(counter, 100);
}

}  // namespace
}  // namespace latchkey
