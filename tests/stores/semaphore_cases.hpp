// Test cases for the semaphores of each store that keeps them beside locks.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <future>
#include <optional>
#include <string>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "soak/permit_holders.hpp"
#include "support/lock_types.hpp"
#include "support/polling.hpp"

namespace latchkey::tests {

/// With a sentence that contains `part`.
inline void expect_refused(const std::function<void()>& call, const std::string& part) {
  try {
    call();
    ADD_FAILURE() << "not refused";
  } catch (const BackendRefused& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

inline void expect_that_a_semaphore_keeps_locks_out(const std::string& uri,
                                                    const std::string& key) {
  using namespace std::chrono_literals;
  const Locks locks = Locks::connect(uri);
  const Locks others = Locks::connect(uri);  // a Locks does not ask the server for what it holds
  const Semaphore semaphore = locks.semaphore(key, 3);
  std::optional<Hold> permit = semaphore.acquire(2, forever);
  for (const LockType type : all_types) {
    SCOPED_TRACE(to_string(type));
    expect_refused([&] { static_cast<void>(others.lock(key, type).try_acquire(1s)); },
                   "the key is a semaphore");
  }
  expect_refused([&] { locks.force_release(key); }, "the key is a semaphore");
  EXPECT_FALSE(permit->lost());
  EXPECT_EQ(semaphore.available(), 1);
  EXPECT_TRUE(permit->release());
  EXPECT_TRUE(semaphore.destroy());
  EXPECT_TRUE(locks.lock(key).try_acquire());
}

inline void expect_that_locks_keep_a_semaphore_out(const std::string& uri, const std::string& key) {
  const Locks locks = Locks::connect(uri);
  const Locks others = Locks::connect(uri);  // a Locks does not ask the server for what it holds
  const Semaphore semaphore = locks.semaphore(key, 3);
  for (const LockType type : all_types) {
    SCOPED_TRACE(to_string(type));
    std::optional<Hold> hold = others.lock(key, type).acquire(forever);
    expect_refused([&] { static_cast<void>(semaphore.try_acquire()); }, "the key is a lock");
    expect_refused([&] { semaphore.set_total(4); }, "the key is a lock");
    expect_refused([&] { semaphore.destroy(); }, "the key is a lock");
    expect_refused([&] { static_cast<void>(semaphore.available()); }, "the key is a lock");
    EXPECT_TRUE(hold->release());
  }
  EXPECT_TRUE(semaphore.try_acquire());
  EXPECT_TRUE(semaphore.destroy());
}

inline void expect_that_people_see_its_holds(const std::string& uri, const std::string& key) {
  const Locks locks = Locks::connect(uri);
  const Semaphore semaphore = locks.semaphore(key, 5);
  std::optional<Hold> two = semaphore.acquire(2, forever), one = semaphore.acquire(1, forever);
  const LockInfo info = locks.inspect(key);  // which does not know that it is a semaphore
  EXPECT_EQ(info.type, LockType::PERMIT);
  EXPECT_TRUE(info.locked);
  EXPECT_EQ(info.holders.size(), 2U);
  ASSERT_TRUE(info.permits);
  EXPECT_EQ(info.permits->available, 2);
  EXPECT_EQ(info.permits->total, 5);
  semaphore.set_total(2);
  EXPECT_EQ(semaphore.available(), -1);
  EXPECT_EQ(locks.list(key).size(), 1U);
  EXPECT_TRUE(two->release());
  EXPECT_TRUE(locks.release_holder(key, locks.inspect(key).holders.at(0).id));
  EXPECT_TRUE(locks.list(key).empty());
  EXPECT_FALSE(one->release());
  EXPECT_EQ(semaphore.available(), 2);
  EXPECT_TRUE(semaphore.destroy());
}

/// The database has what an older version made. `cure`: part of the sentence.
inline void expect_that_permits_are_refused(const Locks& locks, const std::string& cure) {
  EXPECT_TRUE(locks.lock("k").try_acquire());
  const Semaphore semaphore = locks.semaphore("s", 3);
  expect_refused([&] { static_cast<void>(semaphore.try_acquire()); }, cure);
  expect_refused([&] { semaphore.set_total(4); }, cure);
  expect_refused([&] { semaphore.destroy(); }, cure);
  EXPECT_EQ(semaphore.available(), 3);
  EXPECT_TRUE(locks.lock("k").try_acquire());
}

/// Under a hold of `mine`, and under a wait of `theirs`. `await_waiter`: until the server knows of
/// the wait.
inline void expect_that_permits_outlive(const std::function<void()>& fault, const Locks& mine,
                                        const Locks& theirs, const std::string& key,
                                        const std::function<void()>& await_waiter) {
  using namespace std::chrono_literals;
  const Semaphore one = mine.semaphore(key, 3), other = theirs.semaphore(key, 3);
  std::optional<Hold> hold = one.acquire(2, 0ms, 60s);
  auto waiter = std::async(std::launch::async, [&] { return other.acquire(2, forever, 60s); });
  await_waiter();
  fault();
  await("the connection", [&]() -> std::string {
    try {
      return hold->extend(60s) ? "" : "lost";
    } catch (const BackendUnavailable& error) {
      return error.what();
    }
  });
  EXPECT_EQ(waiter.wait_for(0s), std::future_status::timeout);
  EXPECT_TRUE(hold->release());
  ASSERT_EQ(waiter.wait_for(20s), std::future_status::ready);
  Hold next = waiter.get();
  EXPECT_FALSE(next.lost());
  EXPECT_EQ(one.available(), 1);
  EXPECT_TRUE(next.release());
  EXPECT_TRUE(one.destroy());
}

/// In four processes, which are stopped and killed; the server is killed once.
template <class Server>
void expect_never_more_permits_than_there_are(Server& server) {
  using soak::PermitHolders;
  bool killed = false;
  const auto length = soak::length_of_soak();
  PermitHolders holders([&] {
    return Locks::connect(server.uri(),
                          {.watchdog = PermitHolders::lease, .startup = Startup::allow_down});
  });
  EXPECT_TRUE(holders.run(length, [&] {
    soak::Processes& processes = holders.processes;
    processes.wait(std::chrono::milliseconds(20), std::chrono::milliseconds(220));
    if (!killed && PermitHolders::Steady::now() > processes.end() - length / 2) {
      killed = true;
      server.kill();
      server.start();
    } else if (processes.random() % 3 == 0) {
      processes.kill_one();
    } else {
      holders.stop_one();
    }
  }));
  const soak::PermitJudge& judge = *holders.judge;
  std::printf("%d stops, %d kills, %zu holds, at most %llu permits at once\n",
              holders.processes.stops, holders.processes.kills, judge.holds,
              static_cast<unsigned long long>(judge.most));
  EXPECT_TRUE(killed);
  EXPECT_EQ(judge.violations, 0U);
  EXPECT_GT(judge.holds, 20U);
  PermitHolders::expect_that_all_permits_are_free(Locks::connect(server.uri()));
}

}  // namespace latchkey::tests
