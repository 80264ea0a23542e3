// Holds that are kept for the time that their process learns (adaptive_cache).
#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "sim/script.hpp"

namespace latchkey::sim {
namespace {

using namespace std::chrono_literals;
using enum LockType;
using Caller = Script::Caller;
using Change = Notification::Kind;

/// A process whose calls come back to the key.
class CoordinatorAdaptive : public ::testing::Test {
 protected:
  static CoordinatorSettings settings() {
    CoordinatorSettings settings = with_grants();
    settings.cache = adaptive_cache;
    return settings;
  }
  /// Takes the key and releases it. Returns what was sent, except renewals of an idle hold. All of
  /// it is answered.
  std::string use(LockType type = REENTRANT, std::uint64_t token = 0) {
    Caller& call = script.acquire(type, 1s, 30s);
    while (script.open() > 0) script.answer(Script::of(Kind::granted, token));
    script.release(call);
    while (script.open() > 0) script.answer(Kind::granted);
    return sent_but_renewals();
  }
  std::string sent_but_renewals() {
    const std::string sent = script.sent();
    return sent.starts_with("renew") ? std::string() : sent;
  }
  std::string use_after(milliseconds time) {
    pass_answering(time);
    return use();
  }
  /// Lets time pass, and answers at once. Returns what was sent, except renewals.
  std::string pass_answering(milliseconds time) {
    std::string sent;
    for (; time > 0ms; time -= 1ms) {
      script.pass(1ms);
      while (script.open() > 0) script.answer(Kind::granted);
      sent += sent_but_renewals();
    }
    return sent;
  }
  static std::string kept(int id) {
    const std::string number = std::to_string(id);
    return "acquire " + number + " 30000, expire " + number + " 900";
  }
  static std::string released(int id) {
    const std::string number = std::to_string(id);
    return "acquire " + number + " 30000, release " + number;
  }
  /// The key is given back in `time` from now, and not earlier.
  void expect_kept_for(milliseconds time, const std::string& id) {
    EXPECT_EQ(pass_answering(time - 1ms), "");
    EXPECT_EQ(pass_answering(1ms), "release " + id);
  }

  Script script{settings()};
};

TEST_F(CoordinatorAdaptive, TheFirstReleaseIsSent) { EXPECT_EQ(use(), released(1)); }

TEST_F(CoordinatorAdaptive, AKeyThatIsUsedAgainSoonIsKept) {
  use();
  EXPECT_EQ(use_after(4ms), kept(2));
  EXPECT_EQ(use_after(4ms), "") << "it is taken without a request";
  expect_kept_for(14ms, "2");
}

TEST_F(CoordinatorAdaptive, EachReleaseKeepsItForTheLearnedTime) {
  use();
  use_after(100ms);
  for (int count = 0; count < 3; ++count) EXPECT_EQ(use_after(200ms), "") << count;
  EXPECT_EQ(use_after(5ms), "");
  expect_kept_for(395ms, "2");
}

TEST_F(CoordinatorAdaptive, ItIsKeptForASecondInAll) {
  use();
  EXPECT_EQ(use_after(100ms), kept(2));
  for (int count = 0; count < 9; ++count) EXPECT_EQ(use_after(100ms), "");
  expect_kept_for(100ms, "2");
  EXPECT_EQ(use(), kept(3)) << "from the next grant on for a second again";
}

TEST_F(CoordinatorAdaptive, AKeyThatIsNotUsedAgainSoonIsNotKept) {
  use();
  EXPECT_EQ(use_after(1'001ms), released(2));
  EXPECT_EQ(use_after(400ms), released(3)) << "it would have to be kept for 1.2 s";
}

TEST_F(CoordinatorAdaptive, AKeyWhoseTimesGrowIsNoLongerKept) {
  use();
  for (int count = 0; count < 20; ++count) use_after(4ms);
  EXPECT_EQ(use_after(800ms), kept(3)) << "it may be an exception";
  EXPECT_EQ(use_after(800ms), "release 3");
  EXPECT_EQ(use_after(800ms), released(4));
}

TEST_F(CoordinatorAdaptive, ARecallIsFollowedByAPauseInWhichTimesAreLearned) {
  use();
  use_after(300ms);
  script.notify(Change::wanted);
  EXPECT_EQ(script.sent(), "release 2");
  script.answer(Kind::granted);
  for (int id = 3; id < 13; ++id) EXPECT_EQ(use_after(99ms), released(id));
  EXPECT_EQ(use_after(100ms), kept(13));
}

TEST_F(CoordinatorAdaptive, TokensAreReservedForAKeyThatIsKept) {
  use(FENCED, 1'000);
  script.pass(4ms);
  Caller& held = script.acquire(FENCED, 1s, 30s);
  script.answer(Script::of(Kind::granted, 1'256));
  EXPECT_EQ(held.hold->token, 1'001U);
  script.release(held);
  EXPECT_EQ(script.sent(), kept(2));
  script.answer(Kind::granted);
  Caller& next = script.acquire(FENCED, 1s, 30s);
  EXPECT_EQ(next.hold->token, 1'002U);
  script.release(next);
}

TEST_F(CoordinatorAdaptive, EachCallMayAskForIt) {
  Script plain(with_grants());
  for (int id = 1; id <= 2; ++id) {
    Caller& call = plain.acquire(REENTRANT, 1s, Lease(30s).cache(adaptive_cache));
    plain.answer(Kind::granted);
    plain.release(call);
    EXPECT_EQ(plain.sent(), id == 1 ? released(1) : kept(2));
    plain.answer(Kind::granted);
  }
}

TEST_F(CoordinatorAdaptive, AFairLockIsNotKept) {
  for (int count = 0; count < 3; ++count) {
    EXPECT_EQ(use(FAIR).find("expire"), std::string::npos);
  }
}

TEST_F(CoordinatorAdaptive, AReadIsKept) {
  EXPECT_EQ(use(READ), released(1));
  EXPECT_EQ(use(READ), kept(2));
  EXPECT_EQ(use(READ), "");
}

TEST_F(CoordinatorAdaptive, AKeyThatIsReadAndWrittenInTurnIsNotKept) {
  for (int id = 1; id <= 6; ++id) EXPECT_EQ(use(id % 2 == 0 ? READ : WRITE), released(id));
}

}  // namespace
}  // namespace latchkey::sim
