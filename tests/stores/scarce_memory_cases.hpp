// Test cases for each driven store while allocations fail: the call that meets the failure ends by
// its wait, the next one works, and the server keeps nothing.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <exception>
#include <functional>
#include <future>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "exhaustion/scarce_memory.hpp"

namespace latchkey::tests {

/// Fails each allocation of a call in turn. `connect` makes a Locks on the store; the names of its
/// keys begin with `name`.
class ScarceMemoryCases {
 public:
  ScarceMemoryCases(std::function<Locks()> connect, std::string name)
      : connect_(std::move(connect)), name_(std::move(name)), theirs_(connect_()) {
    ::alarm(longest);  // ends the program if a request has no outcome
  }
  ScarceMemoryCases(const ScarceMemoryCases&) = delete;
  ScarceMemoryCases& operator=(const ScarceMemoryCases&) = delete;
  ~ScarceMemoryCases() { ::alarm(0); }

  /// Acquires and releases a free lock. Another hold of the same Locks stays.
  void acquire_and_release(LockType type) {
    const Locks ours = connect_();
    Lock lock = ours.lock(key_of("free", type), type);
    Hold kept = ours.lock(key_of("kept", type), type).acquire(patience);
    each_allocation(
        lock, [&] { acquire_and_release(lock); }, [&] { EXPECT_TRUE(kept.extend(lease)); });
    EXPECT_TRUE(kept.release());
  }

  /// Acquires and releases a free WRITE or FAIR with a fencing token.
  void acquire_with_a_token(LockType type) {
    const Locks ours = connect_();
    Lock lock = ours.lock(key_of("fenced", type), type);
    const Attempt attempt{.type = type, .wait = patience, .lease = lease, .fenced = true};
    each_allocation(lock,
                    [&] { release_after([&] { return ours.acquire(lock.key(), attempt); }); });
  }

  /// Another call of the Locks waits meanwhile, and is granted the lock when it is free.
  void acquire_while_another_waits(LockType type) {
    const Locks ours = connect_();
    Lock lock = ours.lock(key_of("beside", type), type);
    Lock busy = ours.lock(key_of("awaited", type), type);
    Hold held = theirs_.lock(std::string(busy.key()), type).acquire(patience);
    auto waiter = std::async(std::launch::async,
                             [&] { return busy.acquire(std::chrono::minutes(5)).release(); });
    each_allocation(lock, [&] { acquire_and_release(lock); });
    EXPECT_EQ(waiter.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
    EXPECT_TRUE(held.release());
    EXPECT_EQ(waiter.wait_for(patience), std::future_status::ready);
    EXPECT_TRUE(waiter.get());
  }

  /// For a lock that another process holds.
  void wait_in_vain(LockType type) {
    const Locks ours = connect_();
    Lock lock = ours.lock(key_of("busy", type), type);
    Lock their =
        theirs_.lock(std::string(lock.key()), type == LockType::READ ? LockType::WRITE : type);
    std::optional<Hold> held;
    each_allocation(
        lock,
        [&] { fails_well([&] { static_cast<void>(lock.try_acquire(shortest_wait, lease)); }); },
        [&] { held.emplace(their.acquire(patience, lease)); },
        [&] { EXPECT_TRUE(std::exchange(held, std::nullopt)->release()); });
  }

  /// `inspect` and `list`, if the store has them.
  void inspect_and_list() {
    const Locks ours = connect_();
    Lock lock = ours.lock(key_of("seen", LockType::REENTRANT));
    each_allocation(lock, [&] {
      fails_well([&] { static_cast<void>(ours.inspect(lock.key())); });
      fails_well([&] { static_cast<void>(ours.list(name_ + "*")); });
    });
  }

  /// The connection is made while allocations fail.
  void connect_and_acquire() {
    const std::string key = key_of("first", LockType::REENTRANT);
    bool failed = true;
    for (std::size_t nth = 1; failed; nth = next(nth)) {
      SCOPED_TRACE("allocation " + std::to_string(nth));
      fail_allocation(nth, failures_of(nth));
      fails_well([&] {
        const Locks ours = connect_();
        static_cast<void>(ours.lock(key).acquire(patience, lease).release());
      });
      failed = allocation_failed();
      expect_free(key);
      if (::testing::Test::HasFailure()) return;
    }
  }

 private:
  static constexpr unsigned longest = 300;  ///< seconds
  static constexpr std::chrono::milliseconds shortest_wait{20};
  static constexpr std::chrono::seconds patience{20}, lease{5};

  using Act = std::function<void()>;

  /// Each of the first ones, and fewer and fewer of the later ones.
  static std::size_t next(std::size_t nth) noexcept { return nth + 1 + nth / 32; }
  /// One of them alone, or several: what gives up for want of memory finds none either.
  static std::size_t failures_of(std::size_t nth) noexcept { return nth % 2 == 0 ? 1 : 3; }

  std::string key_of(const std::string& what, LockType type) const {
    return name_ + what + ':' + std::string(to_string(type));
  }

  static void acquire_and_release(Lock& lock) {
    release_after([&] { return lock.acquire(patience, lease); });
  }
  /// Lambdas with two references fit into a std::function without an allocation.
  template <class Acquire>
  static void release_after(const Acquire& acquire) {
    std::optional<Hold> hold;
    fails_well([&] { hold.emplace(acquire()); });
    if (hold) fails_well([&] { static_cast<void>(hold->release()); });
  }

  /// The call succeeds or fails as it may without memory.
  static void fails_well(const Act& call) {
    try {
      call();
    } catch (const std::bad_alloc&) {
    } catch (const BackendUnavailable&) {
    } catch (const std::exception& error) {
      static_cast<void>(allocation_failed());  // stops further failures
      ADD_FAILURE() << error.what();
    }
  }

  /// Runs `act` in new threads, whose caches are empty, until one ends before its nth allocation.
  void each_allocation(Lock& lock, const Act& act, const Act& before = {}, const Act& after = {}) {
    bool failed = true;
    std::size_t nth = 1;
    for (; failed; nth = next(nth)) {
      SCOPED_TRACE("allocation " + std::to_string(nth));
      expect_works(lock);  // the connection is there
      if (before) before();
      std::thread([&] {
        fail_allocation(nth, failures_of(nth));
        act();
        failed = allocation_failed();
      }).join();
      if (after) after();
      expect_works(lock);
      expect_free(std::string(lock.key()));
      if (::testing::Test::HasFailure()) return;
    }
    EXPECT_GT(nth, 5U);
  }

  /// Expects that `lock`, of the Locks whose allocations have failed, is acquired and released.
  static void expect_works(Lock& lock) {
    try {
      EXPECT_TRUE(lock.acquire(patience, lease).release());
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
  void expect_free(const std::string& key) {
    std::optional<Hold> hold = theirs_.lock(key).try_acquire(patience, lease);
    ASSERT_TRUE(hold.has_value()) << key;
    EXPECT_TRUE(hold->release());
  }

  const std::function<Locks()> connect_;
  const std::string name_;
  const Locks theirs_;
};

}  // namespace latchkey::tests
