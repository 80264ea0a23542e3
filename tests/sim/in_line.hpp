// Calls that have a place in the backend's process queue.
#pragma once

#include <chrono>
#include <cstdint>

#include "sim/script.hpp"

namespace latchkey::sim {

inline Outcome busy_at(std::uint64_t place) {
  Outcome outcome = Script::busy(std::chrono::seconds(30));
  outcome.place = place;
  return outcome;
}

inline Outcome busy_near_front(std::uint64_t place) {
  Outcome outcome = busy_at(place);
  outcome.near_front = true;
  return outcome;
}

/// A call whose second attempt, after the subscription, was answered with place 7.
class InLine : public Script {
 public:
  explicit InLine(LockType type = LockType::REENTRANT, Lease lease = std::chrono::seconds(30),
                  Wait wait = std::chrono::seconds(20))
      : Script(with_grants()), waiter_(&acquire(type, wait, lease, Owner::make())) {
    answer(busy_at(7));
    answer(Verb::subscribe, Kind::granted);
    answer(busy_at(7));
    (void)sent();
  }
  [[nodiscard]] Script::Caller& waiter() const { return *waiter_; }

 private:
  Script::Caller* waiter_;
};

}  // namespace latchkey::sim
