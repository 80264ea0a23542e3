// Checks policy files against the program: each error has its place and a remedy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include <latchkey/site.hpp>

#include "unit/policy/policy_text.hpp"
#include "unit/policy/till.hpp"

namespace latchkey::tests {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string only_mistake(const std::string& text) {
  const std::vector<std::string> all = mistakes(text);
  std::string joined;
  for (const std::string& one : all) joined += (joined.empty() ? "" : "\n") + one;
  return joined;
}

TEST(Check, FindsNothingInAGoodFile) {
  EXPECT_THAT(mistakes(memory + money + R"(
rules:
  Till::deposit:
    wait: 250ms
    lease: watchdog
  "*::peek":
    on_timeout: skip
)"),
              IsEmpty());
}

/// The line that "till.hpp" gives its last method, so that the header may grow.
std::string line_of_pay() {
  for (const Site& site : sites()) {
    if (site.name() == "till::Till::pay") return std::to_string(site.line());
  }
  return "no site";
}

/// A file with twelve typical errors, which are reported together.
TEST(Check, ReportsTwelvePlantedErrorsAtOnce) {
  const std::vector<std::string> found = mistakes(R"(backends:
  main: "memory:"
  other: memry://x
backend: man
policies:
  money:
    key: #account.id
    lease: 30
rules:
  Till::deposit:
    key: {account.id}
    wiat: 3s
    on_timeout: skip
  Till::withdraw:
    key: 'till:' + #account.id
    type: WRTE
  Til::*:
    wait: 3s
  Till::pay:
    key: "money:{acount.id}"
    wait: 3s
    wait: 4s
)");
  EXPECT_THAT(
      found,
      ElementsAre(
          "3:10 unknown scheme 'memry:'; did you mean 'memory'?",
          "4:10 unknown backend 'man'; did you mean 'main'?",
          "7:10 YAML takes # after 'key' for a comment: quote the value, as in \"#user.id\"",
          "8:12 'lease': missing unit in '30'; expected 30s, or 'watchdog'",
          "11:10 YAML reads {...} after 'key' as a map: quote it, as in \"{user.id}\"",
          HasSubstr("12:5 unknown key 'wiat'; did you mean 'wait'?"),
          HasSubstr("13:17 'skip' does not fit"),
          HasSubstr("15:10 YAML ends this value at its second quote, before '+ #account.id'"),
          HasSubstr("16:11 'type': unknown value 'WRTE'; did you mean 'WRITE'?"),
          HasSubstr(
              "17:3 pattern 'Til::*' matches no decorated method of this program; did you mean "),
          "20:10 key 'money:{acount.id}', column 8: unknown argument 'acount'; expected one of "
          "account; "
          "for till::Till::pay (till.hpp:" +
              line_of_pay() + ")",
          "22:5 duplicate key 'wait'; first in line 21"));
}

TEST(Check, AMissingFileIsAnError) {
  const std::vector<PolicyError> errors = check_policy_file("/no/such/latchkey.yaml");
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_STREQ(errors.front().what(),
               "/no/such/latchkey.yaml: cannot be read: No such file or directory");
}

TEST(Check, TheMostSpecificRuleWinsAndATieIsAnError) {
  const std::string both =
      memory + money + "rules:\n  Till::de*: {wait: 1s}\n  \"*::deposit\": {wait: 2s}\n";
  EXPECT_THAT(only_mistake(both),
              AllOf(HasSubstr("8:3 '*::deposit' and 'Till::de*' of line 7 both name "
                              "till::Till::deposit (till.hpp:"),
                    HasSubstr("neither is the more specific: write a rule for 'Till::deposit'")));
  EXPECT_EQ(only_mistake(both + "  Till::deposit: {wait: 3s}\n"), "");
  EXPECT_EQ(only_mistake(memory + money + "rules:\n  Till::*: {wait: 1s}\n  \"*\": {wait: 2s}\n"),
            "");
}

TEST(Check, AStrategyMustFitTheResultType) {
  const auto rule = [](const char* words) { return memory + money + "rules:\n  " + words + "\n"; };
  EXPECT_EQ(only_mistake(rule("Till::peek: {on_timeout: skip, on_unavailable: skip}")), "");
  EXPECT_EQ(only_mistake(rule("Till::during: {on_timeout: skip}")), "");
  EXPECT_THAT(only_mistake(rule("Till::deposit: {on_unavailable: skip}")),
              HasSubstr("7:35 'skip' does not fit till::Till::deposit"));
  EXPECT_THAT(only_mistake(rule("Till::count: {on_timeout: fallback}")),
              HasSubstr("skip_with and fallback need a value or a function, which stand in code"));
  EXPECT_THAT(only_mistake(rule("Till::close: {on_timeout: raise}")),
              HasSubstr("7:29 'raise' does not fit till::Till::close"));
  EXPECT_THAT(only_mistake(rule("Till::close: {on_lost: raise}")),
              HasSubstr("is declared .no_throw()"));
  EXPECT_EQ(only_mistake(rule("Till::close: {on_timeout: skip, on_lost: report}")), "");
}

TEST(Check, AScopeTakesNoStrategyThatNeedsABody) {
  const auto rule = [](const char* words) { return memory + money + "rules:\n  " + words + "\n"; };
  EXPECT_EQ(
      only_mistake(rule("Till::browse: {wait: 1s, lease: 5s, hold_for: 1s, on_lost: report}")), "");
  EXPECT_EQ(only_mistake(rule("Till::leaf: {on_timeout: skip, on_unavailable: skip}")), "");
  EXPECT_THAT(only_mistake(rule("Till::browse: {on_timeout: skip}")),
              HasSubstr("'skip' does not fit till::Till::browse"));
  EXPECT_THAT(only_mistake(rule("Till::browse: {unlocked: dangerously}")),
              HasSubstr("'unlocked' does not fit till::Till::browse"));
  EXPECT_THAT(only_mistake(rule("Till::leaf: {on_timeout: run_unlocked_dangerously}")),
              HasSubstr("'run_unlocked_dangerously' does not fit till::Till::leaf"));
  EXPECT_THAT(only_mistake(rule("Till::browse: {on_lost: raise}")),
              HasSubstr("its Hold tells the listener of a loss, so say 'report'"));
}

TEST(Check, DefaultsAreCheckedAgainstMethodsWithoutOwnSettings) {
  EXPECT_THAT(only_mistake(memory + money + "defaults: {on_timeout: skip}\n"),
              AllOf(HasSubstr("6:24 'skip' does not fit till::Till::deposit"),
                    Not(HasSubstr("Till::count")), Not(HasSubstr("Till::close"))));
  EXPECT_EQ(only_mistake(memory + money + "defaults: {on_timeout: raise, wait: 1s}\n"), "");
}

TEST(Check, EachOfSeveralKeysMustFitItsMethod) {
  const auto rule = [](const char* words) { return memory + money + "rules:\n  " + words + "\n"; };
  EXPECT_EQ(only_mistake(rule("Till::deposit: {key: [\"a:{account.id}\", \"b:{account.name}\"]}")),
            "");
  EXPECT_THAT(only_mistake(rule("Till::deposit: {key: [\"a:{account.id}\", \"b:{account.nme}\"]}")),
              AllOf(HasSubstr("7:43 "), HasSubstr("'nme'")));
  EXPECT_THAT(only_mistake(rule("Till::deposit: {key: [a, b], permits: 3}")),
              HasSubstr("'permits' makes a semaphore of one key, and 'key' has several"));
}

struct Jobs {
  static void nightly(int day) {
    LOCKED_ONCE_PER("night:{day}", std::chrono::hours(24)) AROUND(day){};
  }
};

// A rule that named such a method "matched no decorated method of this program".
TEST(Check, ARuleForALockedOncePerNamesItsBackendOnly) {
  if (sites().begin() == sites().end()) Jobs::nightly(1);  // never, and the compiler cannot know
  const auto rule = [](const char* words) { return memory + money + "rules:\n  " + words + "\n"; };
  EXPECT_EQ(only_mistake(rule("Jobs::nightly: {backend: main}")), "");
  EXPECT_THAT(only_mistake(rule("Jobs::nightly: {lease: 3s}")),
              AllOf(HasSubstr("'lease' does not fit "), HasSubstr("Jobs::nightly (check_test.cpp:"),
                    HasSubstr("which is a LOCKED_ONCE_PER; expected backend")));
  EXPECT_THAT(only_mistake(rule("Jobs::nihgtly: {backend: main}")),
              HasSubstr("did you mean 'Jobs::nightly'?"));
}

TEST(Check, AKeyMustFitItsMethodAndBelongToOneLock) {
  const auto rule = [](const char* words) { return memory + money + "rules:\n  " + words + "\n"; };
  EXPECT_THAT(only_mistake(rule("Till::move: {key: all}")),
              HasSubstr("takes several locks: a rule cannot say which of them gets this key"));
  EXPECT_THAT(only_mistake(rule("Till::move: {type: READ}")), HasSubstr("gets this type"));
  EXPECT_EQ(only_mistake(rule("Till::move: {wait: 1s}")), "");
  EXPECT_THAT(only_mistake(rule("Till::deposit: {key: \"a:{account.rate}\"}")),
              HasSubstr("account.rate"));
  EXPECT_THAT(only_mistake(rule("Till::deposit: {key: \"a:{account.id\"}")),
              HasSubstr("7:24 key 'a:{account.id'"));
  EXPECT_THAT(only_mistake(rule("Till::deposit: {key: \"a:{account[*]}\"}")),
              HasSubstr("[*] takes each element of a container"));
}

TEST(Check, LockedByNeedsItsPolicyAndAKey) {
  EXPECT_THAT(only_mistake(memory),
              HasSubstr("0:0 unknown policy 'money' in LOCKED_BY of till::Till::pay"));
  EXPECT_THAT(only_mistake(memory + "policies:\n  mony: {key: x}\n"),
              HasSubstr("3:1 unknown policy 'money' in LOCKED_BY of till::Till::pay"));
  EXPECT_THAT(only_mistake(memory + "policies:\n  money: {type: READ}\n"),
              HasSubstr("4:3 the policy 'money' has no key, which LOCKED_BY of"));
  EXPECT_EQ(only_mistake(memory + "policies:\n  money: {type: READ}\nrules:\n  Till::pay: {key: "
                                  "x}\n  Bank::deposit: {key: x}\n  Vault::open: {key: x}\n"),
            "");
}

TEST(Check, DurationsAreCheckedAgainstEachOther) {
  const std::string rule =
      memory + money + "rules:\n  Till::deposit: {policy: money, hold_for: 3s, lease: 2s}\n";
  EXPECT_THAT(only_mistake(rule), HasSubstr("7:44 'hold_for' is longer than the lease"));
}

TEST(Check, HeldAtMostIsNotShorterThanTheLeaseOrHoldFor) {
  const auto with = [](const std::string& settings) {
    return only_mistake(memory + money + "rules:\n  Till::deposit: {" + settings + "}\n");
  };
  EXPECT_EQ(with("lease: watchdog, held_at_most: 10m"), "");
  EXPECT_EQ(with("lease: 30s, held_at_most: 30s"), "");
  EXPECT_EQ(with("lease: 30s, held_at_most: 10s"),
            "7:45 'held_at_most' is shorter than the lease; expected a shorter lease, or "
            "'watchdog'");
  EXPECT_EQ(with("hold_for: 2s, held_at_most: 1s"),
            "7:47 'held_at_most' is shorter than 'hold_for'; expected a longer time");
  EXPECT_EQ(with("held_at_most: 9ms"),
            "7:33 'held_at_most': '9ms' is too short; expected at least 10ms");
  EXPECT_THAT(with("held_at_most: forever"), HasSubstr("7:33 'held_at_most': invalid time"));
  EXPECT_EQ(only_mistake(memory + "policies:\n  money: {key: x, lease: 1h}\nrules:\n"
                                  "  Till::deposit: {policy: money, held_at_most: 10m}\n"),
            "6:48 'held_at_most' is shorter than the lease; expected a shorter lease, or "
            "'watchdog'");
}

TEST(Check, LockDelayIsATimeInItsRange) {
  const auto with = [](const std::string& settings) {
    return only_mistake(memory + money + "rules:\n  Till::deposit: {" + settings + "}\n");
  };
  EXPECT_EQ(with("lease: 30s, lock_delay: 5s"), "");
  EXPECT_EQ(with("lease: 1s, held_at_most: 10s, lock_delay: 24h"), "");
  EXPECT_EQ(with("lock_delay: 9ms"),
            "7:31 'lock_delay': '9ms' is too short; expected at least 10ms");
  EXPECT_EQ(with("lock_delay: 25h"), "7:31 'lock_delay': '25h' is too long; expected at most 24h");
  EXPECT_THAT(with("lock_delay: watchdog"), HasSubstr("7:31 'lock_delay': invalid time"));
  EXPECT_THAT(with("lock_dely: 5s"), HasSubstr("did you mean 'lock_delay'?"));
}

TEST(Check, CacheIsATimeInItsRangeForALockThatCanBeKept) {
  const auto with = [](const std::string& settings) {
    return only_mistake(memory + money + "rules:\n  Till::deposit: {" + settings + "}\n");
  };
  EXPECT_EQ(with("cache: 100ms"), "");
  EXPECT_EQ(with("type: READ, cache: 0"), "");
  EXPECT_EQ(with("type: READ, cache: adaptive"), "");
  EXPECT_EQ(with("cache: 11s"),
            "7:26 'cache': '11s' is too long; expected at most 10s, or 'adaptive'");
  EXPECT_EQ(with("cache: adaptve"),
            "7:26 'cache': invalid time 'adaptve'; expected a whole number and ms, s, m, h or d, "
            "as in 250ms, or 'adaptive'");
  EXPECT_THAT(with("lock_delay: adaptive"), HasSubstr("invalid time 'adaptive'"));
  for (const std::string time : {"1s", "adaptive"}) {
    EXPECT_EQ(with("type: FAIR, cache: " + time),
              "7:38 'cache' does not fit FAIR; expected it with another type, or none");
  }
  EXPECT_EQ(with("shared_with: redisson, cache: 0"), "");
  EXPECT_EQ(with("shared_with: redisson, cache: 1s"),
            "7:49 'cache' does not fit 'shared_with: redisson': its tryLock() gets nothing from a "
            "lock that is kept; expected one of the two");
  EXPECT_THAT(with("shared_with: java"), HasSubstr("unknown value 'java'"));
}

TEST(Check, FencedFitsTheTypeAndHasOneValue) {
  const auto with = [](const std::string& rule) {
    return only_mistake(memory + money + "rules:\n  " + rule + "\n");
  };
  EXPECT_EQ(with("Till::deposit: {type: WRITE, fenced: true}"), "");
  EXPECT_EQ(with("Till::deposit: {fenced: true}"), "");
  EXPECT_THAT(with("Till::deposit: {fenced: yes}"),
              HasSubstr("7:27 'fenced': unknown value 'yes'"));
  EXPECT_EQ(with("Till::deposit: {type: READ, fenced: true}"),
            "7:39 'fenced' does not fit READ, which several owners hold at a time; expected it "
            "where the WRITE is taken");
  EXPECT_EQ(with("Till::deposit: {permits: 3, fenced: true}"),
            "7:39 'fenced' does not fit PERMIT, which several owners hold at a time; expected it "
            "where the WRITE is taken");
}

TEST(Check, FencedFitsTheTypeOfAnotherPartOfTheFileOrOfTheCode) {
  EXPECT_THAT(only_mistake(memory + "policies:\n  money: {key: x, fenced: true}\nrules:\n"
                                    "  Till::deposit: {policy: money, type: READ}\n"),
              HasSubstr("4:27 'fenced' does not fit READ"));
  EXPECT_THAT(only_mistake("defaults: {fenced: true}\n" + memory),
              HasSubstr("'fenced' is not allowed here; expected in policies and rules only"));
}

}  // namespace
}  // namespace latchkey::tests
