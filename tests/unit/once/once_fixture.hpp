// Jobs of several processes on one store, each process with a wall clock of its own.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <latchkey/locks.hpp>
#include <latchkey/once_per.hpp>
#include <latchkey/testing/manual_clock.hpp>

#include "memory/memory_backend.hpp"
#include "support/recorder.hpp"

namespace latchkey::tests {

/// The time of another clock, with another time of day.
class SkewedClock final : public Clock {
 public:
  explicit SkewedClock(latchkey::testing::ManualClock& inner) : inner_(inner) {}

  [[nodiscard]] time_point now() const noexcept override { return inner_.now(); }
  [[nodiscard]] std::chrono::system_clock::time_point wall() const noexcept override {
    if (jump_after_reads > 0 && --jump_after_reads == 0) error += jump;
    return inner_.wall() + error;
  }
  void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& condition,
                  time_point deadline) override {
    inner_.wait_until(lock, condition, deadline);
  }

  // One thread at a time.
  mutable std::chrono::milliseconds error{0};
  mutable int jump_after_reads = 0;  ///< this many readings of wall() later `jump` is added
  std::chrono::milliseconds jump{0};

 private:
  latchkey::testing::ManualClock& inner_;
};

/// The Locks of one process on the store of all tests of this program that have this time.
struct OnceProcess {
  OnceProcess(latchkey::testing::ManualClock& time, const std::string& store)
      : clock(time),
        locks(detail::make_memory_backend("memory:" + store, {.clock = &time}),
              {.clock = &clock, .listener = &recorder}) {}

  SkewedClock clock;
  Recorder recorder;
  Locks locks;
};

/// Two processes, whose clocks agree unless a test changes one.
class OnceTest : public ::testing::Test {
 protected:
  static constexpr std::chrono::minutes period{15};

  void pass(Clock::duration length) {
    clock.await_sleepers(1);
    clock.advance(length);
  }

  latchkey::testing::ManualClock clock;
  const std::string store = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  OnceProcess one{clock, store}, other{clock, store};
};

}  // namespace latchkey::tests
