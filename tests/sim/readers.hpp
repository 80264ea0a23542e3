// Scripted runs of READs of one process that share one hold at the backend.
#pragma once

#include <chrono>

#include <gtest/gtest.h>

#include "sim/script.hpp"

namespace latchkey::inline v1::sim {

/// A READ that holds under id 1, and others that join it.
class Readers : public Script {
 public:
  explicit Readers(Lease lease = std::chrono::seconds(30),
                   CoordinatorSettings settings = with_cohorts())
      : Script(settings),
        first_(&acquire(LockType::READ, std::chrono::seconds(3), lease, Owner::make())) {
    Script::answer(Kind::granted);
    (void)sent();
    (void)events();
  }

  Caller& ask(LockType type, Lease lease = std::chrono::seconds(30),
              Wait wait = std::chrono::seconds(3)) {
    return acquire(type, wait, lease, Owner::make());
  }
  Caller& join(Lease lease = std::chrono::seconds(30)) {
    Caller& reader = ask(LockType::READ, lease);
    EXPECT_EQ(reader.answer, Answer::granted);
    EXPECT_EQ(sent(), "");
    return reader;
  }
  [[nodiscard]] Caller& first() const { return *first_; }

  void expect_given_back() {
    EXPECT_EQ(sent(), "release 1");
    Script::answer(Kind::granted);
    EXPECT_TRUE(idle());
  }

 private:
  Caller* first_;
};

}  // namespace latchkey::inline v1::sim
