// Makes each allocation of each call fail once. No lock stays held, nothing is left on the server,
// and the next call works.
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/locks.hpp>

#include "exhaustion/exhaustion_fixture.hpp"
#include "exhaustion/scarce_memory.hpp"
#include "support/recorder.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

class Exhaustion : public ExhaustionFixture, public ::testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    ExhaustionFixture::SetUp();
    if (GetParam()) server_.emplace();
    theirs_.emplace(connect());
  }

  [[nodiscard]] Locks connect(Listener* listener = nullptr) const {
    return Locks::connect(server_ ? server_->unix_uri() : "memory:exhaustion",
                          {.command_timeout = 1s, .listener = listener});
  }

  void warm_up() override { static_cast<void>(theirs_->lock("warm").acquire(patience).release()); }

  void everything_is_free() override {
    for (const std::string& key : keys_) {
      ASSERT_TRUE(eventually([&] { return !theirs_->inspect(key).locked; })) << key;
      auto hold = theirs_->lock(key).try_acquire(patience, 30s);
      ASSERT_TRUE(hold.has_value()) << key;
      ASSERT_TRUE(hold->release());
    }
    if (server_) {
      ASSERT_TRUE(
          eventually([&] { return server_->client()({"PUBSUB", "CHANNELS"}).list().empty(); }));
      ASSERT_TRUE(eventually(
          [&] { return server_->client()({"KEYS", "redisson_lock_queue*"}).list().empty(); }));
    }
  }

  std::optional<RedisServer> server_;
  std::optional<Locks> theirs_;
  const std::vector<std::string> keys_{"k", "l", std::string(100, 'm')};
};

constexpr LockType types[] = {LockType::REENTRANT, LockType::FAIR, LockType::READ, LockType::WRITE,
                              LockType::FENCED};

TEST_P(Exhaustion, FailedAcquireLeavesNothing) {
  for (const LockType type : types) {
    SCOPED_TRACE(to_string(type));
    Recorder recorder;
    const Locks ours = connect(&recorder);
    each_allocation([&](int, const auto& from, const auto& to) {
      for (const std::string& key : keys_) {
        Lock lock = ours.lock(key, type);
        std::optional<Hold> hold;
        from();
        fails_well([&] { hold.emplace(lock.acquire(patience)); });
        to();
        if (hold) {
          EXPECT_TRUE(hold->release());
        }
      }
    });
    const Hold next = ours.lock("k", type).acquire(patience);  // also of the same Locks
    EXPECT_FALSE(next.lost());
  }
}

TEST_P(Exhaustion, ReleaseWithoutMemoryFreesTheLock) {
  for (const LockType type : {LockType::REENTRANT, LockType::FAIR, LockType::READ}) {
    Recorder recorder;
    const Locks ours = connect(&recorder);
    each_allocation([&](int round, const auto& from, const auto& to) {
      std::optional<Hold> hold;
      std::thread([&] { hold.emplace(ours.lock("k", type).acquire(patience)); }).join();
      from();
      if (round == 0) {
        hold.reset();  // reports no error
      } else {
        fails_well([&] { static_cast<void>(hold->release()); });
      }
      to();
    });
  }
}

TEST_P(Exhaustion, ReleaseWithoutMemoryToLearnTheNextUseFreesTheLock) {
  each_allocation([&](int, const auto& from, const auto& to) {
    const Locks ours = connect();
    Hold hold = ours.lock("k").acquire(patience, Lease(30s).cache(adaptive_cache));
    from();
    fails_well([&] { static_cast<void>(hold.release()); });
    to();
  });
}

// An idle lock is the first to go.
TEST_P(Exhaustion, WithoutMemoryForAKeyIdleLocksAreGivenBack) {
  const Locks ours = connect();
  if (!ours.capabilities().recalls) GTEST_SKIP() << "nothing is kept";
  EXPECT_TRUE(ours.lock("k").acquire(patience, Lease(30s).cache(10s)).release());
  EXPECT_TRUE(theirs_->inspect("k").locked);
  Lock other = ours.lock("other");
  const auto began = std::chrono::steady_clock::now();
  fail_allocation(1, 1'000);
  EXPECT_TRUE(fails_well([&] { static_cast<void>(other.try_acquire()); }));
  EXPECT_TRUE(allocation_failed());
  EXPECT_TRUE(eventually([&] { return !theirs_->inspect("k").locked; }));
  EXPECT_LT(std::chrono::steady_clock::now() - began, 8s);
}

TEST_P(Exhaustion, FailedWaitLeavesNoQueuePlaceAndNoSubscription) {
  for (const LockType type : {LockType::REENTRANT, LockType::FAIR, LockType::READ}) {
    Recorder recorder;
    const Locks ours = connect(&recorder);
    each_allocation([&](int, const auto& from, const auto& to) {
      Hold held = theirs_->lock("k", LockType::WRITE).acquire(patience, 30s);
      Lock lock = ours.lock("k", type);
      std::optional<Hold> hold;
      from();
      fails_well([&] { hold = lock.try_acquire(20ms); });
      to();
      EXPECT_FALSE(hold.has_value());
      EXPECT_TRUE(held.release());
    });
  }
}

TEST_P(Exhaustion, FailedLockAndUnlockLeaveNothing) {
  const Locks ours = connect();
  each_allocation([&](int, const auto& from, const auto& to) {
    Lock lock = ours.lock("k");
    bool locked = false;
    from();
    fails_well([&] { locked = lock.try_lock_for(patience); });
    if (locked) lock.unlock();
    to();
    if (locked) return;
  });
}

TEST_P(Exhaustion, FailedAcquireOfSeveralHoldsNone) {
  const Locks other = connect();
  for (const bool in_order : {false, true}) {
    SCOPED_TRACE(in_order);
    const Locks ours = connect();
    each_allocation([&](int, const auto& from, const auto& to) {
      Lock both = ours.all_of({ours.lock(keys_[0]), (in_order ? other : ours).lock(keys_[1]),
                               ours.lock(keys_[2], LockType::WRITE)});
      std::optional<Hold> hold;
      from();
      fails_well([&] { hold.emplace(both.acquire(patience, 30s)); });
      to();
      from();
      if (hold) fails_well([&] { static_cast<void>(hold->release()); });
      to();
    });
  }
}

// A key that the thread held already stayed locked if there was no memory for a later key's claim.
TEST_P(Exhaustion, FailedAcquireOfSeveralUndoesItsReentry) {
  const Locks ours = connect();
  each_allocation([&](int, const auto& from, const auto& to) {
    Hold outer = ours.lock(keys_[0]).acquire(patience, 30s);
    Lock all = ours.all_of({ours.lock(keys_[0]), ours.lock(keys_[1]), ours.lock(keys_[2])});
    std::optional<Hold> hold;
    from();
    fails_well([&] { hold.emplace(all.acquire(patience, 30s)); });
    to();
    if (hold) {
      EXPECT_TRUE(hold->release());
    }
    EXPECT_TRUE(outer.release());
  });
}

TEST_P(Exhaustion, FailedExtendKeepsTheHold) {
  const Locks ours = connect();
  each_allocation([&](int, const auto& from, const auto& to) {
    Hold hold = ours.lock("k").acquire(patience, 30s);
    from();
    fails_well([&] { static_cast<void>(hold.extend(40s)); });
    to();
    EXPECT_FALSE(hold.lost());
    EXPECT_TRUE(hold.release());
  });
}

INSTANTIATE_TEST_SUITE_P(On, Exhaustion, ::testing::Values(false, true),
                         [](const auto& tested) { return tested.param ? "Redis" : "Memory"; });

}  // namespace
}  // namespace latchkey::tests
