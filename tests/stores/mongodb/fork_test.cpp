// After a fork the child uses its own connections, and the parent's connections still work.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/locks.hpp>
#include <latchkey/mongodb.hpp>

#include "ferretdb_server.hpp"
#include "support/child.hpp"
#include "support/servers/fault_proxy.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

class MongoDbFork : public ::testing::Test {
 protected:
  void SetUp() override {
    NEEDS_FERRETDB();
    register_mongodb();
    proxy_.emplace(shared_ferretdb().port());
    locks_.emplace(Locks::connect("mongodb://127.0.0.1:" + std::to_string(proxy_->port()) +
                                  "/locks?collection=fork"));
  }

  std::optional<FaultProxy> proxy_;
  std::optional<Locks> locks_;
};

TEST_F(MongoDbFork, AChildHasItsOwnConnectionAndDoesNotTouchItsParents) {
  std::optional<Hold> hold = locks_->lock("k").acquire(forever);
  const std::size_t before = proxy_->made();
  EXPECT_EQ(in_child([&](Findings& findings) {
              CHILD_EXPECT(findings, hold->lost());
              CHILD_EXPECT(findings, !locks_->lock("k").try_acquire().has_value());
              CHILD_EXPECT(findings, locks_->lock("child").try_acquire().has_value());
              hold.reset();
            }),
            "");
  EXPECT_GT(proxy_->made(), before) << "the child has connections of its own";
  const std::size_t after = proxy_->made();
  EXPECT_FALSE(hold->lost());
  EXPECT_TRUE(hold->extend(60s));
  EXPECT_TRUE(hold->release());
  EXPECT_EQ(proxy_->made(), after) << "the parent's connection still works";
}

TEST_F(MongoDbFork, AForkWhileOtherThreadsLockAndUnlockSucceeds) {
  std::atomic<bool> over = false;
  std::atomic<int> failed = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&, thread] {
      Lock lock = locks_->lock("k" + std::to_string(thread % 2));
      while (!over) {
        lock.lock();
        if (!lock.release()) ++failed;
      }
    });
  }
  for (int round = 0; round < 5; ++round) {
    EXPECT_EQ(in_child([&](Findings& findings) {
                CHILD_EXPECT(findings, locks_->lock("child").try_acquire(10s).has_value());
                CHILD_EXPECT(findings, locks_->lock("k0").try_acquire(20s).has_value());
              }),
              "");
  }
  over = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
}

}  // namespace
}  // namespace latchkey::tests
