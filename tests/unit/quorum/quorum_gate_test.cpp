// A WRITE of one process among READs of others that overlap all the time.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <thread>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/quorum.hpp>

#include "support/recorder.hpp"
#include "support/servers/many_servers.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;

class QuorumGate : public ::testing::Test {
 protected:
  using ConnectionStates = tests::ConnectionStates<3>;

  [[nodiscard]] Locks process(ConnectionStates& states) {
    return Locks(make_quorum(states.connect(stores_), {}));
  }

  std::array<tests::Store, 3> stores_;
};

TEST_F(QuorumGate, AWriteIsGrantedAmongReadersThatOverlapAllTheTime) {
  constexpr int readers = 4;
  std::array<ConnectionStates, readers> states;
  std::atomic<bool> over = false;
  std::atomic<int> reading = 0, reads = 0, gaps = 0;
  std::vector<std::thread> threads;
  for (int reader = 0; reader < readers; ++reader) {
    threads.emplace_back([&, reader] {
      const Locks locks = process(states[static_cast<std::size_t>(reader)]);
      while (!over) {
        auto hold = locks.lock("k", LockType::READ).try_acquire(200ms, 10s);
        if (!hold) continue;
        ++reading;
        ++reads;
        std::this_thread::sleep_for(40ms);  // sleeps: so that another has begun meanwhile
        if (--reading == 0) ++gaps;
      }
    });
  }
  EXPECT_TRUE(tests::eventually([&] { return reads > 20; }));
  ConnectionStates mine;
  const Locks locks = process(mine);
  EXPECT_TRUE(locks.lock("k", LockType::WRITE).try_acquire(20s, 10s).has_value());
  const int before = reads;
  EXPECT_TRUE(tests::eventually([&] { return reads > before + 20; })) << "then readers go on";
  over = true;
  for (std::thread& each : threads) each.join();
}

TEST_F(QuorumGate, AWriterThatGivesUpLeavesTheGateOpenSoon) {
  ConnectionStates states, theirs;
  const Locks locks = process(states), others = process(theirs);
  const Hold read = others.lock("k", LockType::READ).acquire(0ms, 60s);
  EXPECT_FALSE(locks.lock("k", LockType::WRITE).try_acquire(2s, 10s));
  ConnectionStates third;
  EXPECT_TRUE(process(third).lock("k", LockType::READ).try_acquire(10s, 10s).has_value());
}

// A READ of one of them waited for a WRITE that waits for the other one.
TEST_F(QuorumGate, AKeyAndTheSameKeyInBracesHaveGatesOfTheirOwn) {
  ConnectionStates states, theirs, third;
  const Locks locks = process(states), others = process(theirs), readers = process(third);
  const Hold read = others.lock("{k}", LockType::READ).acquire(0ms, 60s);
  auto write = std::async(std::launch::async, [&] {
    return locks.lock("{k}", LockType::WRITE).try_acquire(5s, 10s).has_value();
  });
  EXPECT_TRUE(tests::eventually([&] {
    return !readers.lock("{k}", LockType::READ).try_acquire(0ms, 10s).has_value();
  })) << "the WRITE has shut its gate";
  EXPECT_TRUE(readers.lock("k", LockType::READ).try_acquire(0ms, 10s).has_value());
  EXPECT_FALSE(write.get());
}

TEST_F(QuorumGate, NoLockHasTheNameOfAGate) {
  ConnectionStates states;
  const Locks locks = process(states);
  for (const LockType type : {LockType::REENTRANT, LockType::READ, LockType::WRITE}) {
    EXPECT_THROW(static_cast<void>(locks.lock("latchkey_writer:{k}", type).try_acquire(0ms, 10s)),
                 BackendRefused);
  }
  EXPECT_TRUE(locks.lock("my:latchkey_writer:k").try_acquire(0ms, 10s).has_value());
}

}  // namespace
}  // namespace latchkey
