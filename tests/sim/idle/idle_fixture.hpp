// Scripted runs of a process that keeps a hold which it has released.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include <gtest/gtest.h>

#include "sim/script.hpp"

namespace latchkey::inline v1::sim {

/// With every event, and holds that are kept idle for so long.
inline CoordinatorSettings kept_for(milliseconds cache) {
  CoordinatorSettings settings = with_idle_holds();
  settings.cache = cache;
  return with_events(settings);
}

class IdleTest : public ::testing::Test {
 protected:
  explicit IdleTest(const CoordinatorSettings& settings = with_idle_holds())
      : script(with_events(settings)) {}

  Script::Caller& take(LockType type = LockType::REENTRANT,
                       Lease lease = std::chrono::seconds(30)) {
    return script.acquire(type, std::chrono::seconds(1), lease, Owner::make());
  }
  /// A call of another owner, in a script with settings of its own.
  static Script::Caller& take_in(Script& its, Lease lease = std::chrono::seconds(30)) {
    return its.acquire(LockType::REENTRANT, std::chrono::seconds(1), lease, Owner::make());
  }
  /// The process has had the key, and keeps it idle. All is answered.
  static void become_idle_in(Script& its, Lease lease = std::chrono::seconds(30)) {
    Script::Caller& held = take_in(its, lease);
    its.answer(Kind::granted);
    its.release(held);
    its.answer(Kind::granted);
  }
  /// The process has had the key under id 1, and keeps it idle. The `expire` is answered.
  void become_idle(LockType type = LockType::REENTRANT, std::uint64_t token = 0) {
    Script::Caller& held = script.acquire(type, std::chrono::seconds(1), std::chrono::seconds(30));
    script.answer(Script::of(Kind::granted, token));
    EXPECT_EQ(script.release(held).answer, Answer::granted) << "the release waits for no reply";
    EXPECT_EQ(script.sent(), "acquire 1 30000, expire 1 900");
    script.answer(Kind::granted);
  }
  /// The key is free at the backend, and no release is to be repeated.
  void end_release(std::string_view sent = "release 1") {
    EXPECT_EQ(script.sent(), sent);
    script.answer(Kind::granted);
  }

  Script script;
};

}  // namespace latchkey::inline v1::sim
