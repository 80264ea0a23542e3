// Scripted runs with the permits of one semaphore.
#pragma once

#include <chrono>
#include <cstdint>

#include "sim/script.hpp"

namespace latchkey::inline v1::sim {

inline Outcome granted(std::uint32_t left) {
  Outcome outcome = Script::of(Kind::granted);
  outcome.permits_left = left;
  return outcome;
}

/// Calls of one process for one semaphore, each with an owner of its own.
class Permits : public Script {
 public:
  using Script::Script;

  Caller& take(Lease lease = std::chrono::seconds(30)) {
    return acquire(LockType::PERMIT, std::chrono::seconds(3), lease, Owner::make());
  }
  Caller& hold(std::uint32_t left) {
    Caller& call = take();
    answer(granted(left));
    EXPECT_EQ(call.answer, Answer::granted);
    (void)sent();
    return call;
  }
  /// All permits are taken, and the first call that waits knows it and is subscribed.
  Caller& wait_first() {
    Caller& first = take();
    answer(busy(std::chrono::seconds(20)));
    answer(Verb::subscribe, Kind::granted);
    answer(Verb::acquire, busy(std::chrono::seconds(20)));  // once more after the subscription
    EXPECT_EQ(first.answer, Answer::pending);
    (void)sent();
    return first;
  }
};

}  // namespace latchkey::inline v1::sim
