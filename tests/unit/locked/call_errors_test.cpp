// Errors of decorated calls: which method they name, and whether its body ran.
#include <latchkey/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <latchkey/decorate.hpp>
#include <latchkey/held.hpp>
#include <latchkey/locks.hpp>

#include "support/failing_backend.hpp"
#include "support/manual_locks.hpp"
#include "support/recorder.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

/// The error that a call threw.
struct Thrown {
  std::string sentence{};
  bool body_ran = false;
  bool unavailable = false;
  bool release_unconfirmed = false;
};

template <class Call>
Thrown thrown_by(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return {error.what(), error.body_ran(),
            dynamic_cast<const BackendUnavailable*>(&error) != nullptr,
            dynamic_cast<const ReleaseUnconfirmed*>(&error) != nullptr};
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

template <class Body>
int charge(const Locks& locks, int id, Body&& body) {
  return LOCKED("account:{id}", LockType::WRITE, 1s, 10s).in(locks).named("charge") AROUND(id) {
    body();
    return id;
  };
}

template <class Body>
void charge_all(const Locks& locks, const std::vector<int>& ids, Body&& body) {
  LOCKED("account:{ids[*]}", LockType::WRITE, 1s, 10s).in(locks).named("charge_all") AROUND(ids) {
    body();
  };
}

class CallErrors : public ::testing::Test, public tests::ManualLocks {};

TEST_F(CallErrors, LockTimeoutNamesMethodTemplateAndLease) {
  const Hold hold = another().lock("account:1").acquire(forever);
  const auto skipping = clock.skip_waits();
  const Thrown error = thrown_by([&] { charge(locks, 1, [] {}); });
  EXPECT_THAT(
      error.sentence,
      MatchesRegex("charge \\(call_errors_test.cpp:[0-9]+\\): the WRITE lock 'account:1' "
                   "on memory: was busy for the whole wait of 1000 ms; held by owner .*; "
                   "key template 'account:\\{id\\}', lease 10000 ms; the body did not run"));
  EXPECT_FALSE(error.body_ran);
}

TEST_F(CallErrors, LockLostNamesMethodTemplateLeaseAndHowLongItWasHeld) {
  const Thrown error = thrown_by([&] { charge(locks, 1, [&] { clock.advance(12s); }); });
  EXPECT_THAT(error.sentence,
              AllOf(MatchesRegex("charge \\(call_errors_test.cpp:[0-9]+\\): the WRITE lock "
                                 "'account:1' on memory: was lost before it was released: .*"),
                    EndsWith("; it was held for 12000 ms; key template 'account:{id}', lease 10000 "
                             "ms; the body ran")));
  EXPECT_TRUE(error.body_ran);
}

TEST_F(CallErrors, LockLostOfSeveralKeysNamesTheSame) {
  try {
    charge_all(locks, {1, 2}, [&] { clock.advance(12s); });
    FAIL();
  } catch (const LockLost& error) {
    EXPECT_THAT(error.what(), AllOf(StartsWith("charge_all (call_errors_test.cpp:"),
                                    HasSubstr("; it was held for 12000 ms; key template "
                                              "'account:{ids[*]}', lease 10000 ms"),
                                    EndsWith("; the body ran")));
    EXPECT_THAT(error.key(), AllOf(HasSubstr("account:1"), HasSubstr("account:2")));
    EXPECT_THAT(error.method(), StartsWith("charge_all ("));
    EXPECT_EQ(error.held(), 12s);
    EXPECT_TRUE(error.body_ran());
  }
}

TEST_F(CallErrors, LockLostAfterTheBodyItselfReleasedNamesTheMethod) {
  const Thrown error =
      thrown_by([&] { charge(locks, 1, [] { static_cast<void>(current_hold()->release()); }); });
  EXPECT_THAT(error.sentence,
              AllOf(StartsWith("charge ("), HasSubstr("the WRITE lock 'account:1' on memory:"),
                    EndsWith("; the body ran")));
  EXPECT_TRUE(error.body_ran);
}

TEST_F(CallErrors, KeyErrorNamesTheMethod) {
  const std::string empty;
  const auto pay = [&] { LOCKED("pay:{empty}").in(locks).named("pay") AROUND(empty){}; };
  const Thrown error = thrown_by(pay);
  EXPECT_THAT(error.sentence,
              MatchesRegex("pay \\(call_errors_test.cpp:[0-9]+\\): key "
                           "'pay:\\{empty\\}': empty is an empty text; .*; the body "
                           "did not run"));
  EXPECT_FALSE(error.body_ran);
}

TEST_F(CallErrors, AnEmptyListOfKeysNamesItsTemplate) {
  const Thrown error = thrown_by([&] { charge_all(locks, {}, [] {}); });
  EXPECT_THAT(error.sentence,
              MatchesRegex("charge_all \\(call_errors_test.cpp:[0-9]+\\): several locks at once "
                           "need at least 1 key: there is none; key template "
                           "'account:\\{ids\\[\\*\\]\\}'; the body did not run"));
}

TEST_F(CallErrors, WriteInsideReadNamesTheOuterMethodAndTheRemedy) {
  const int id = 1;
  const auto report = [&] {
    LOCKED("account:{id}", LockType::READ).in(locks).named("report") AROUND(id) {
      charge(locks, id, [] {});
    };
  };
  const Thrown error = thrown_by(report);
  EXPECT_THAT(
      error.sentence,
      MatchesRegex("charge \\(call_errors_test.cpp:[0-9]+\\): the WRITE lock 'account:1' on "
                   "memory: would wait for its own owner, who holds it as READ in report "
                   "\\(call_errors_test.cpp:[0-9]+\\): a READ cannot become a WRITE; take "
                   "the WRITE in the outer method, or end the READ before; .*; the body did "
                   "not run"));
  EXPECT_TRUE(error.body_ran) << "that of report has begun";
}

TEST_F(CallErrors, RefusedReentrySaysThatItIsRefused) {
  const auto inner = [&] { LOCKED("k").in(locks).reentry(Reentry::refuse) AROUND(){}; };
  const auto outer = [&] {
    LOCKED("k").in(locks).named("outer") AROUND() { inner(); };
  };
  EXPECT_THAT(thrown_by(outer).sentence,
              AllOf(HasSubstr(" in outer (call_errors_test.cpp:"),
                    HasSubstr("re-entry is refused here by .reentry(Reentry::refuse)")));
}

class SilentCalls : public ::testing::Test {
 protected:
  template <class Body>
  int pay(Body&& body) {
    return LOCKED("k", LockType::REENTRANT, 100ms, 10s).in(locks).named("pay") AROUND() {
      body();
      return 7;
    };
  }

  template <class Body>
  int pay_and_raise(Body&& body) {
    return LOCKED("k", LockType::REENTRANT, 100ms, 10s)
        .in(locks)
        .named("pay")
        .on_unconfirmed_release(strategy::raise) AROUND() {
      body();
      return 7;
    };
  }

  tests::Recorder recorder;
  tests::Faults faults;
  Locks locks{std::make_unique<tests::FailingBackend>(faults),
              {.unavailable_after = 200ms, .listener = &recorder}};
};

TEST_F(SilentCalls, ABackendThatWasDownBeforeTheBodySaysThatItDidNotRun) {
  faults.silent = true;
  const Thrown error = thrown_by([&] { pay([] { FAIL(); }); });
  EXPECT_FALSE(error.body_ran);
  EXPECT_TRUE(error.unavailable);
  EXPECT_FALSE(error.release_unconfirmed);
  EXPECT_THAT(error.sentence, MatchesRegex("pay \\(.*\\): the state of the REENTRANT lock 'k' on "
                                           "failing is unknown: the line is dead; waited [0-9]+ "
                                           "ms; key template 'k', lease 10000 ms; the body "
                                           "did not run"));
}

// It threw: who repeated the call after a BackendUnavailable paid twice.
TEST_F(SilentCalls, AnUnconfirmedReleaseDoesNotHideTheResultOfABodyThatRan) {
  EXPECT_EQ(pay([&] { faults.silent = true; }), 7);
  EXPECT_TRUE(recorder.await(Event::Kind::release_unconfirmed));
  faults.silent = false;
}

TEST_F(SilentCalls, ARefusedReleaseDoesNotHideItEither) {
  EXPECT_EQ(pay([&] { faults.refusing = true; }), 7);
}

TEST_F(SilentCalls, OnUnconfirmedReleaseIsSeparateFromLosses) {
  const auto reports_losses = [&]() -> int {
    return LOCKED("k", LockType::REENTRANT, 100ms, 10s)
        .in(locks)
        .on_lost(strategy::report)
        .on_unconfirmed_release(strategy::raise) AROUND()
        ->int {
      faults.silent = true;
      return 7;
    };
  };
  EXPECT_TRUE(thrown_by(reports_losses).release_unconfirmed);
  faults.silent = false;
}

TEST_F(SilentCalls, ABackendThatDiesWhileTheBodyRunsSaysThatItRan) {
  const Thrown error = thrown_by([&] { pay_and_raise([&] { faults.silent = true; }); });
  EXPECT_TRUE(error.body_ran);
  EXPECT_TRUE(error.unavailable);
  EXPECT_TRUE(error.release_unconfirmed);
  EXPECT_THAT(error.sentence,
              MatchesRegex("pay \\(.*\\): the release of the REENTRANT lock 'k' on failing was not "
                           "confirmed: the line is dead; the lock ends at the latest with its "
                           "lease; key template 'k', lease 10000 ms; the body ran"));
  faults.silent = false;
}

TEST_F(SilentCalls, ARefusedReleaseSaysThatTheBodyRan) {
  const Thrown error = thrown_by([&] { pay_and_raise([&] { faults.refusing = true; }); });
  EXPECT_TRUE(error.body_ran);
  EXPECT_FALSE(error.unavailable);
  EXPECT_THAT(error.sentence, EndsWith("; the body ran"));
  faults.refusing = false;
}

TEST_F(SilentCalls, OnUnavailableSkipKeepsTheResultOfABodyThatRan) {
  const auto skipping = [&]() -> std::optional<int> {
    return LOCKED("k", LockType::REENTRANT, 100ms, 10s)
        .in(locks)
        .on_unavailable(strategy::skip) AROUND()
        ->std::optional<int> {
      faults.silent = true;
      return 7;
    };
  };
  EXPECT_EQ(skipping(), 7) << "the body ran, and skip is for bodies that did not";
  ASSERT_TRUE(recorder.await(Event::Kind::release_unconfirmed)) << "but the listener knows";
  EXPECT_EQ(skipping(), std::nullopt) << "this one did not run";
  faults.silent = false;
}

TEST_F(SilentCalls, AnErrorThatLeavesAnOuterBodySaysThatItRan) {
  faults.silent = false;
  const auto outer = [&] {
    LOCKED("outer").in(locks)AROUND() {
      faults.silent = true;
      pay([] {});
    };
  };
  const Thrown error = thrown_by(outer);
  EXPECT_TRUE(error.body_ran) << "a repeated call does the work of outer's body again";
  EXPECT_THAT(error.sentence, AllOf(StartsWith("pay ("), EndsWith("; the body did not run")));
  faults.silent = false;
}

TEST_F(SilentCalls, OtherErrorsOfABodyPassAsTheyAre) {
  EXPECT_THROW(pay([] { throw std::runtime_error("mine"); }), std::runtime_error);
}

TEST_F(SilentCalls, AnExplicitReleaseIsUnconfirmedToo) {
  Hold hold = locks.lock("k").acquire(forever);
  Lock lock = locks.lock("l");
  lock.lock();
  faults.silent = true;
  for (const bool by_hold : {true, false}) {
    const auto release = [&] { by_hold ? hold.release() : lock.release(); };
    const Thrown error = thrown_by(release);
    EXPECT_TRUE(error.release_unconfirmed);
    EXPECT_FALSE(error.body_ran) << "no decorated call";
    EXPECT_THAT(error.sentence, EndsWith("was not confirmed: the line is dead; the lock ends at "
                                         "the latest with its lease"));
  }
  faults.silent = false;
}

}  // namespace
}  // namespace latchkey
