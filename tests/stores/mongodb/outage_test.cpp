// The server is killed, frozen or restarted, or connections break, under a hold and under a wait.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/mongodb.hpp>

#include "ferretdb_server.hpp"
#include "support/polling.hpp"
#include "support/servers/fault_proxy.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

class MongoDbOutage : public ::testing::Test {
 protected:
  void SetUp() override {
    NEEDS_FERRETDB();
    register_mongodb();
    server_.emplace();
    proxy_.emplace(server_->port());
  }
  /// Through the proxy.
  [[nodiscard]] Locks connect(std::chrono::milliseconds timeout = 500ms) const {
    return Locks::connect("mongodb://127.0.0.1:" + std::to_string(proxy_->port()) + "/locks",
                          {.command_timeout = timeout});
  }
  /// Locks and unlocks again, once the server answers.
  void expect_works(const Locks& locks, const std::string& key) {
    await("a lock after the outage", [&]() -> std::string {
      try {
        return locks.lock(key).try_acquire(5s) ? "" : "it is busy";
      } catch (const BackendUnavailable& error) {
        return error.what();
      }
    });
    Shell shell(server_->uri());
    await("the end of every document", [&] { return shell.count() == 0 ? "" : "one is left"; });
  }

  void kept_by_its_holder(const std::function<void()>& disturb) {
    const Locks locks = connect();
    std::optional<Hold> hold = locks.lock("kept").acquire(5s, 30s);
    disturb();
    EXPECT_FALSE(hold->lost());
    await("an extension", [&]() -> std::string {
      try {
        return hold->extend(40s) ? "" : "it is lost";
      } catch (const BackendUnavailable& error) {
        return error.what();
      }
    });
    Locks other = Locks::connect(server_->uri());
    EXPECT_FALSE(other.lock("kept").try_acquire(0ms));
    EXPECT_TRUE(hold->release());
    hold.reset();
    expect_works(other, "kept");
    expect_works(locks, "kept");
  }

  /// A waiter gets the lock after the outage, when its holder releases it.
  void awaited(const std::function<void()>& disturb) {
    const Locks locks = connect(), other = connect();
    std::optional<Hold> hold = locks.lock("awaited").acquire(5s, 60s);
    auto waiter = std::async(std::launch::async, [&] {
      const Hold next = other.lock("awaited").acquire(60s, 30s);
      return !next.lost();
    });
    disturb();
    EXPECT_FALSE(hold->lost());
    await("the release", [&]() -> std::string {
      try {
        return hold->release() ? "" : "it was lost";
      } catch (const BackendUnavailable&) {
        return "";  // repeated by latchkey
      }
    });
    hold.reset();
    EXPECT_TRUE(waiter.get());
    expect_works(locks, "awaited");
  }

  void restart() {
    server_->kill();
    server_->start();
  }
  void freeze() {
    server_->stop();
    std::this_thread::sleep_for(1'200ms);  // sleeps: longer than a command may take
    server_->resume();
  }

  std::optional<FerretServer> server_;
  std::optional<FaultProxy> proxy_;
};

TEST_F(MongoDbOutage, AHoldSurvivesARestart) {
  kept_by_its_holder([&] { restart(); });
}
TEST_F(MongoDbOutage, AHoldSurvivesAFreeze) {
  kept_by_its_holder([&] { freeze(); });
}
TEST_F(MongoDbOutage, AHoldSurvivesTheLossOfItsConnection) {
  kept_by_its_holder([&] { proxy_->cut(); });
}
TEST_F(MongoDbOutage, AWaitSurvivesARestart) {
  awaited([&] { restart(); });
}
TEST_F(MongoDbOutage, AWaitSurvivesAFreeze) {
  awaited([&] { freeze(); });
}
TEST_F(MongoDbOutage, AWaitSurvivesTheLossOfItsConnection) {
  awaited([&] { proxy_->cut(); });
}

TEST_F(MongoDbOutage, AHoldIsLostInTimeIfTheServerStaysAway) {
  const Locks locks = connect();
  const Hold hold = locks.lock("lost").acquire(5s, 1s);
  const auto granted = std::chrono::steady_clock::now();
  server_->kill();
  await("the loss", [&] { return hold.lost() ? "" : "it is held"; });
  EXPECT_GE(std::chrono::steady_clock::now() - granted, 500ms);
  EXPECT_THROW(static_cast<void>(locks.lock("other").try_acquire(1s)), BackendUnavailable);
  server_->start();
  expect_works(locks, "lost");
}

TEST_F(MongoDbOutage, AnAcquireWhoseReplyIsLostLeavesNothing) {
  const Locks locks = connect();
  expect_works(locks, "first");  // a connection is open
  proxy_->drop(FaultProxy::Direction::to_client);
  EXPECT_THROW(static_cast<void>(locks.lock("orphan").try_acquire(100ms, 300s)),
               BackendUnavailable);
  proxy_->pass(FaultProxy::Direction::to_client);
  proxy_->cut();
  // latchkey releases what the acquire may have taken, long before its lease ends.
  expect_works(locks, "orphan");
}

}  // namespace
}  // namespace latchkey::tests
