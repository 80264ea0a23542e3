// Calls of one process that take a hold over from one another.
#pragma once

#include <gtest/gtest.h>

#include "sim/script.hpp"

namespace latchkey::inline v1::sim {

/// A call that holds under id 1, and others that wait. Answers `token` to the first.
class Cohort : public Script {
 public:
  explicit Cohort(LockType type, Lease lease = std::chrono::seconds(30),
                  CoordinatorSettings settings = with_cohorts())
      : Script(settings), holder_(&acquire(type, std::chrono::seconds(3), lease, Owner::make())) {
    Script::answer(of(Kind::granted));
    (void)sent();
  }

  Caller& wait(LockType type, Lease lease = std::chrono::seconds(30)) {
    Caller& waiter = acquire(type, std::chrono::seconds(3), lease, Owner::make());
    EXPECT_EQ(waiter.answer, Answer::pending);
    EXPECT_EQ(sent(), "");
    return waiter;
  }
  [[nodiscard]] Caller& holder() const { return *holder_; }

  void expect_released_at_the_backend() {
    EXPECT_EQ(release(holder()).answer, Answer::pending);
    EXPECT_EQ(sent().substr(0, 9), "release 1");
    while (open() > 0) Script::answer(Kind::granted);
  }

 private:
  Caller* holder_;
};

}  // namespace latchkey::inline v1::sim
