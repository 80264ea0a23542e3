// HoldsLock: matches holds and Locks, and explains a mismatch.
#include <latchkey/testing/holds_lock.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>

#include <latchkey/testing/manual_clock.hpp>

namespace latchkey::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::Not;

template <class Subject>
std::string explanation(const HoldsLockMatcher& matcher, const Subject& subject) {
  ::testing::StringMatchResultListener listener;
  matcher.MatchAndExplain(subject, listener.stream());
  return listener.str();
}

TEST(HoldsLock, MatchesAKeyOfAHoldOfSeveral) {
  const Locks locks = Locks::connect("memory:");
  const Hold both = locks.all_of({locks.lock("a"), locks.lock("b")}).acquire(forever);
  EXPECT_THAT(both, HoldsLock("a"));
  EXPECT_THAT(both, HoldsLock("b", LockType::REENTRANT));
  EXPECT_THAT(both, Not(HoldsLock("c")));
  EXPECT_THAT(both, Not(HoldsLock("a", LockType::WRITE)));
}

TEST(HoldsLock, MatchesAHold) {
  ManualClock clock;
  const Locks locks = Locks::connect("memory:", {.clock = &clock});
  Hold hold = locks.lock("k", LockType::FAIR).acquire(0ms, 10s);
  EXPECT_THAT(hold, HoldsLock("k"));
  EXPECT_THAT(&hold, HoldsLock("k", LockType::FAIR));
  EXPECT_THAT(hold, Not(HoldsLock("k", LockType::REENTRANT)));
  EXPECT_THAT(hold, Not(HoldsLock("other")));
  clock.advance(10s);
  EXPECT_THAT(hold, Not(HoldsLock("k")));
  EXPECT_EQ(explanation(HoldsLock("k"), hold), "which is the FAIR lock 'k', and lost");
  const Hold moved = std::move(hold);
  // NOLINTNEXTLINE(bugprone-use-after-move): what is left is an empty hold
  EXPECT_EQ(explanation(HoldsLock("k"), hold), "which is empty");
}

TEST(HoldsLock, DoesNotMatchNull) {
  const Hold* const nothing = nullptr;
  EXPECT_THAT(nothing, Not(HoldsLock("k")));
  EXPECT_EQ(explanation(HoldsLock("k"), nothing),
            "which is null: no decorated call of this thread holds anything");
}

TEST(HoldsLock, MatchesLocks) {
  const Locks locks = Locks::connect("memory:", {.prefix = "p:"});
  EXPECT_THAT(locks, Not(HoldsLock("k")));
  EXPECT_EQ(explanation(HoldsLock("k"), locks), "where nobody holds 'k'");
  const Hold read = locks.lock("k", LockType::READ).acquire(forever);
  EXPECT_THAT(locks, HoldsLock("k"));
  EXPECT_THAT(locks, HoldsLock("k", LockType::READ));
  EXPECT_THAT(locks, Not(HoldsLock("k", LockType::WRITE)));
  const Hold fair = locks.lock("f", LockType::FAIR).acquire(forever);
  EXPECT_THAT(locks, HoldsLock("f", LockType::FENCED)) << "plain locks are one to their place";
}

TEST(HoldsLock, DescribesItself) {
  const ::testing::Matcher<const Hold&> matcher = HoldsLock("k", LockType::WRITE);
  EXPECT_EQ(::testing::DescribeMatcher<const Hold&>(matcher), "holds the WRITE lock 'k'");
  EXPECT_EQ(::testing::DescribeMatcher<const Hold&>(HoldsLock("k"), true),
            "does not hold the lock 'k'");
}

}  // namespace
}  // namespace latchkey::testing
