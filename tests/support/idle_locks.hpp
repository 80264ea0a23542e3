// Tests of locks that a process keeps have this in common, whatever the servers.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string_view>

#include <latchkey/locks.hpp>

#include "support/stalls.hpp"

namespace latchkey::tests {

class IdleLocksTest : public ::testing::Test {
 protected:
  /// Far longer than anything here takes that ends an idle lock.
  static constexpr std::chrono::seconds long_time{10};

  static void use(const Locks& locks, std::string_view key, LockType type = LockType::REENTRANT) {
    std::optional<Hold> hold = locks.try_acquire(key, {.type = type, .wait = long_time});
    ASSERT_TRUE(hold) << key;
    EXPECT_TRUE(hold->release());
  }
  /// Whether `action` takes far less than the time for which a lock is kept.
  static ::testing::AssertionResult is_soon(const std::function<void()>& action) {
    using std::chrono::steady_clock, std::chrono::milliseconds;
    const Stalls stalls;
    const auto begin = steady_clock::now();
    action();
    const auto took = steady_clock::now() - begin - stalls.total();
    if (took < long_time / 2) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "after " << took / milliseconds(1) << " ms";
  }
};

}  // namespace latchkey::tests
