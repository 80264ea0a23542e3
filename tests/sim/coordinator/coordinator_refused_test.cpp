// Acquires that the backend refuses. The coordinator releases what they may have written.
#include <chrono>

#include <gtest/gtest.h>

#include "sim/script.hpp"

namespace latchkey::sim {
namespace {

using namespace std::chrono_literals;
using enum LockType;
using Caller = Script::Caller;

// A script may have written a key before it failed, and a key without a TTL blocks for ever.
TEST(CoordinatorRefused, RefusedAcquireIsReleasedUntilTheReleaseIsConfirmed) {
  Script script;
  Caller& call = script.acquire(REENTRANT, 0ms, 30s);
  script.answer(Kind::refused);
  EXPECT_EQ(call.answer, Answer::refused);
  EXPECT_EQ(script.sent(), "acquire 1 30000, release 1");
  script.answer(Kind::refused);
  EXPECT_TRUE(script.timer_is_needed());
  script.pass(1s);
  EXPECT_EQ(script.sent(), "release 1");
  script.answer(Kind::unknown);
  script.pass(1s);
  EXPECT_EQ(script.sent(), "release 1");
  script.answer(Kind::gone);
  EXPECT_TRUE(script.idle());
}

TEST(CoordinatorRefused, RefusedReleaseOfARefusedAcquireEndsWithTheLease) {
  Script script;
  script.acquire(WRITE, 0ms, 2500ms);
  script.answer(Kind::refused);
  for (int times = 0; !script.idle() && times < 10; ++times) {
    script.answer(Kind::refused);
    script.pass(1s);
  }
  EXPECT_EQ(script.sent(), "acquire 1 2500, release 1, release 1, release 1, release 1");
  EXPECT_TRUE(script.idle());
}

// The release overtook the acquire, so the refusal arrived last.
TEST(CoordinatorRefused, AcquireRefusedAfterItsReleaseIsReleasedAgain) {
  CoordinatorSettings unordered;
  unordered.in_order = false;
  Script script(unordered);
  Caller& call = script.acquire(REENTRANT, 1s, 30s);
  script.cancel(call);
  script.answer(Verb::release, Kind::gone);
  EXPECT_EQ(script.sent(), "acquire 1 30000, release 1");
  script.answer(Verb::acquire, Kind::refused);
  EXPECT_EQ(script.sent(), "release 1");
  script.answer(Kind::gone);
  EXPECT_TRUE(script.idle());
}

}  // namespace
}  // namespace latchkey::sim
