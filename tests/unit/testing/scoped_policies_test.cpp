// ScopedPolicies: a policy file in force for one test, and none of another test.
#include <latchkey/testing/scoped_policies.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include <latchkey/error.hpp>
#include <latchkey/testing/scoped_locks.hpp>

#include "unit/policy/policy_text.hpp"
#include "unit/policy/till.hpp"

namespace latchkey::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ScopedLocks;
using testing::ScopedPolicies;
using testing::Taken;
using till::Till;

const till::Account ada{7, "ada", 0};

class ScopedPoliciesTest : public ::testing::Test {
 protected:
  /// Returns the error of a LOCKED_BY without a policy.
  static std::string refusal() {
    try {
      Till().pay(ada);
    } catch (const NotConfigured& error) {
      return error.what();
    }
    return "it ran";
  }

  const ScopedLocks locks;
};

TEST_F(ScopedPoliciesTest, LockedByTakesItsPolicyUntilTheEndOfTheScope) {
  EXPECT_THAT(refusal(), HasSubstr("testing::ScopedPolicies in a test"));
  {
    const auto policies = ScopedPolicies::from_text(R"(
policies:
  money: {key: "money:{account.id}", type: WRITE, lease: 300s}
)");
    EXPECT_GT(Till().pay(ada).lease, std::chrono::seconds(200));
  }
  EXPECT_THAT(locks.taken(), ElementsAre(Taken{"money:7", LockType::WRITE}));
  EXPECT_THAT(refusal(), HasSubstr("LOCKED_BY(\"money\")"));
}

// Its backends need a server, its password is not here, and its rules name methods of the service
// that this program does not have.
TEST_F(ScopedPoliciesTest, TheServicesOwnFileNeedsNeitherItsServersNorItsOtherMethods) {
  const PolicyText file(R"(
backends:
  main: "redis://:${LATCHKEY_NOWHERE_SET}@redis.example:6379"
  other: "${LATCHKEY_NOWHERE_SET_EITHER}"
backend: main
prefix: "shop:"
policies:
  money: {key: "account:{account.id}", backend: other}
rules:
  Till::deposit: {backend: other, type: READ}
  Orders::place: {wait: 1s}
)");
  const auto policies = ScopedPolicies::from_file(file.path());
  Till().pay(ada);
  Till().deposit(ada);
  EXPECT_THAT(locks.taken(), ElementsAre(Taken{"account:7", LockType::REENTRANT},
                                         Taken{"till:7", LockType::READ}));
}

TEST_F(ScopedPoliciesTest, PoliciesOfMethodsThatAreNotCalledMayBeMissing) {
  const auto policies = ScopedPolicies::from_text("rules: {\"Till::deposit\": {type: FAIR}}");
  EXPECT_EQ(Till().deposit(ada).type, LockType::FAIR);
  EXPECT_THAT(refusal(), HasSubstr("none of this name is loaded"));
}

TEST_F(ScopedPoliciesTest, NestAndApplyToAllThreads) {
  const auto outer = ScopedPolicies::from_text("rules: {\"Till::deposit\": {type: FAIR}}");
  {
    const auto inner = ScopedPolicies::from_text("rules: {\"Till::deposit\": {type: READ}}");
    std::jthread([] { Till().deposit(ada); }).join();
  }
  Till().deposit(ada);
  EXPECT_THAT(locks.taken(),
              ElementsAre(Taken{"till:7", LockType::READ}, Taken{"till:7", LockType::FAIR}));
}

TEST_F(ScopedPoliciesTest, MistakesAreThoseOfTheFile) {
  const auto mistake = [](const std::string& yaml) {
    try {
      const auto policies = ScopedPolicies::from_text(yaml);
    } catch (const PolicyError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  EXPECT_THAT(mistake("policies:\n  money: {key: \"money:{acount.id}\"}\n"),
              HasSubstr("the test's policies:2:16: "));
  EXPECT_THAT(mistake("rules:\n  Till::deposit: {lese: 3s}\n"), HasSubstr("'lease'"));
  EXPECT_THAT(mistake("rules:\n  Till::count: {on_timeout: skip}\n"), HasSubstr("returns int"));
  EXPECT_EQ(mistake("rules:\n  Till::*: {wait: 1s}\n"), "none");
  EXPECT_THROW(static_cast<void>(ScopedPolicies::from_file("/nowhere/latchkey.yaml")), PolicyError);
}

}  // namespace
}  // namespace latchkey::tests
