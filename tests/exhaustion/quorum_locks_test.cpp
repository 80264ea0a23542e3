// Makes each allocation of each call on a quorum fail once. The call ends, no server keeps a key,
// and the next call works.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
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

class ExhaustionOfQuorum : public ExhaustionFixture, public ::testing::WithParamInterface<bool> {
 protected:
  static constexpr std::size_t servers = 3;
  static constexpr LockType offered[] = {LockType::REENTRANT, LockType::READ, LockType::WRITE};

  void SetUp() override {
    ExhaustionFixture::SetUp();
    for (std::size_t server = 0; server < servers; ++server) {
      if (GetParam()) redis_[server] = std::make_unique<RedisServer>();
      single_.push_back(Locks::connect(uri(server), {.command_timeout = 1s}));
    }
    ours_.emplace(connect());
  }

  [[nodiscard]] std::string uri(std::size_t server) const {
    return redis_[server] ? redis_[server]->unix_uri()
                          : "memory:exhaustion" + std::to_string(server);
  }
  [[nodiscard]] Locks connect() const {
    std::string all = "quorum:";
    for (std::size_t server = 0; server < servers; ++server) all += uri(server) + ' ';
    return Locks::connect(all, {.command_timeout = 1s});
  }

  void warm_up() override {
    static_cast<void>(ours_->lock("warm").acquire(patience, 30s).release());
  }

  // A release that a server has not confirmed is repeated with a later call of the same Locks.
  void everything_is_free() override {
    for (std::size_t server = 0; server < servers; ++server) {
      if (redis_[server] && !redis_[server]->serves()) continue;
      for (const std::string& key : keys_) {
        ASSERT_TRUE(eventually([&] {
          if (!single_[server].inspect(key).locked) return true;
          Hold other = ours_->lock("other").acquire(patience, 30s);
          return !other.release();
        })) << key
            << " at server " << server;
      }
    }
    for (const std::string& key : keys_) {
      std::optional<Hold> hold = ours_->lock(key).try_acquire(patience, 30s);
      ASSERT_TRUE(hold.has_value()) << key;
      ASSERT_TRUE(hold->release());
    }
  }

  /// An acquire returns once a majority has granted "k"; this server may be about to.
  [[nodiscard]] bool lose_at(std::size_t server) {
    return eventually([&] { return single_[server].force_release("k"); });
  }

  std::array<std::unique_ptr<RedisServer>, servers> redis_;
  std::vector<Locks> single_;  ///< one for each server
  std::optional<Locks> ours_;
  const std::vector<std::string> keys_{"k", std::string(100, 'm')};
};

TEST_P(ExhaustionOfQuorum, FailedAcquireLeavesNothing) {
  for (const LockType type : offered) {
    SCOPED_TRACE(to_string(type));
    each_allocation([&](int, const auto& from, const auto& to) {
      for (const std::string& key : keys_) {
        std::optional<Hold> hold;
        from();
        fails_well([&] { hold.emplace(ours_->lock(key, type).acquire(patience, 30s)); });
        to();
        if (hold) {
          EXPECT_TRUE(hold->release());
        }
      }
    });
  }
}

TEST_P(ExhaustionOfQuorum, ReleaseWithoutMemoryFreesTheLock) {
  each_allocation([&](int round, const auto& from, const auto& to) {
    std::optional<Hold> hold;
    std::thread([&] { hold.emplace(ours_->lock("k").acquire(patience, 30s)); }).join();
    from();
    if (round == 0) {
      hold.reset();  // reports no error
    } else {
      fails_well([&] { static_cast<void>(hold->release()); });
    }
    to();
  });
}

// One server grants it and two are busy.
TEST_P(ExhaustionOfQuorum, AFailedAttemptIsReleased) {
  for (const LockType type : offered) {
    SCOPED_TRACE(to_string(type));
    each_allocation([&](int, const auto& from, const auto& to) {
      Hold first = single_[1].lock("k", LockType::WRITE).acquire(patience, 30s);
      Hold second = single_[2].lock("k", LockType::WRITE).acquire(patience, 30s);
      std::optional<Hold> hold;
      from();
      fails_well([&] { hold = ours_->lock("k", type).try_acquire(20ms, 30s); });
      to();
      EXPECT_FALSE(hold.has_value());
      EXPECT_TRUE(first.release());
      EXPECT_TRUE(second.release());
    });
  }
}

TEST_P(ExhaustionOfQuorum, FailedExtendKeepsTheHold) {
  each_allocation([&](int, const auto& from, const auto& to) {
    Hold hold = ours_->lock("k").acquire(patience, 30s);
    from();
    fails_well([&] { static_cast<void>(hold.extend(40s)); });
    to();
    EXPECT_FALSE(hold.lost());
    EXPECT_TRUE(hold.release());
  });
}

// The server that has lost it is sent an acquire.
TEST_P(ExhaustionOfQuorum, AHoldThatOneServerHasLostIsKept) {
  each_allocation([&](int, const auto& from, const auto& to) {
    Hold hold = ours_->lock("k").acquire(patience, 30s);
    EXPECT_TRUE(lose_at(0));
    from();
    fails_well([&] { static_cast<void>(hold.extend(40s)); });
    fails_well([&] { static_cast<void>(hold.extend(50s)); });
    to();
    EXPECT_FALSE(hold.lost());
    EXPECT_TRUE(hold.release());
  });
}

TEST_P(ExhaustionOfQuorum, AHoldThatTwoServersHaveLostIsReleasedAtTheThird) {
  each_allocation([&](int, const auto& from, const auto& to) {
    Hold hold = ours_->lock("k").acquire(patience, 30s);
    EXPECT_TRUE(lose_at(0));
    EXPECT_TRUE(lose_at(1));
    from();
    fails_well([&] { static_cast<void>(hold.extend(40s)); });
    to();
    fails_well([&] { static_cast<void>(hold.release()); });
  });
}

TEST_P(ExhaustionOfQuorum, CallsEndWhileOneServerIsDown) {
  if (!GetParam()) GTEST_SKIP() << "no server could be killed";
  redis_[0]->kill();
  for (const LockType type : {LockType::REENTRANT, LockType::READ}) {
    SCOPED_TRACE(to_string(type));
    each_allocation([&](int, const auto& from, const auto& to) {
      std::optional<Hold> hold;
      from();
      fails_well([&] {
        hold.emplace(ours_->lock("k", type).acquire(patience, 30s));
        static_cast<void>(hold->extend(40s));
        static_cast<void>(hold->release());
      });
      hold.reset();
      to();
    });
  }
}

INSTANTIATE_TEST_SUITE_P(On, ExhaustionOfQuorum, ::testing::Values(false, true),
                         [](const auto& tested) { return tested.param ? "Redis" : "Memory"; });

}  // namespace
}  // namespace latchkey::tests
