// .fenced of LOCKED, in code and in policies.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <latchkey/decorate.hpp>
#include <latchkey/detail/locked/site_policy.hpp>
#include <latchkey/error.hpp>
#include <latchkey/held.hpp>
#include <latchkey/locked.hpp>

#include "support/manual_locks.hpp"
#include "support/refusal.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;

class LockedFenced : public ::testing::Test, public tests::ManualLocks {
 protected:
  std::string transfer(int from, int to) {
    return LOCKED(KEYS("account:{from}", "account:{to}"), LockType::WRITE, 3s, 30s)
        .in(locks)
        .fenced() AROUND(from, to) {
      const Hold& hold = *current_hold();
      EXPECT_FALSE(hold.fence());
      EXPECT_EQ(hold.fencing_token(std::size_t{0}),
                hold.fencing_token("account:" + std::to_string(from)));
      EXPECT_EQ(hold.fencing_token("account:" + std::to_string(to)),
                hold.fencing_token(std::size_t{1}));
      return hold.fence(std::size_t{0})->key + ' ' + hold.fence(std::size_t{1})->key;
    };
  }
};

TEST_F(LockedFenced, AWriteHasAFence) {
  std::uint64_t last = 0;
  const int id = 7;
  for (int round = 0; round < 3; ++round) {
    LOCKED("account:{id}", LockType::WRITE, 3s, 30s).in(locks).fenced() AROUND(id) {
      const std::optional<Fence> fence = current_hold()->fence();
      ASSERT_TRUE(fence);
      EXPECT_EQ(fence->key, "account:7");
      EXPECT_EQ(fence->type, LockType::WRITE);
      EXPECT_GT(fence->token, last);
      last = fence->token;
    };
  }
}

TEST_F(LockedFenced, WithoutATypeItIsFenced) {
  LOCKED("k").in(locks).fenced() AROUND() {
    EXPECT_EQ(current_hold()->type(), LockType::FENCED);
    EXPECT_TRUE(current_hold()->fence());
  };
  LOCKED("k").in(locks)AROUND() { EXPECT_FALSE(current_hold()->fence()); };
}

TEST_F(LockedFenced, AScopeHasItToo) {
  const Hold hold = LOCKED("k", LockType::FAIR).in(locks).fenced() HERE();
  EXPECT_EQ(hold.fence()->type, LockType::FAIR);
}

TEST_F(LockedFenced, KeysHaveTokensByNameAndInTheOrderOfKeys) {
  EXPECT_EQ(transfer(9, 1), "account:9 account:1");
  EXPECT_EQ(transfer(1, 9), "account:1 account:9");
}

// READ by name does not compile: tests/compile_fail/locked_fenced_read.cpp.
TEST_F(LockedFenced, SharedTypesAreErrors) {
  const LockType type = LockType::READ;
  const std::string cure =
      " has no fencing token, because several owners hold it at a time: say .fenced() where the "
      "WRITE is taken";
  EXPECT_EQ(tests::refusal([&] { LOCKED("k", type).in(locks).fenced() AROUND(){}; }),
            "a READ" + cure);
  EXPECT_EQ(tests::refusal([&] { LOCKED("k").in(locks).permits(3).fenced() AROUND(){}; }),
            "a PERMIT" + cure);
  EXPECT_EQ(tests::refusal([&] { LOCKED("k").in(locks).fenced().permits(3) AROUND(){}; }),
            "a PERMIT" + cure);
}

TEST(PolicyFenced, TheFileAddsATokenAndTakesNoneAway) {
  const detail::LockTerms plain = detail::make_terms(LockType::WRITE, 3s, 30s);
  detail::LockTerms said = plain;
  said.fenced = true;
  detail::SitePolicy policy;
  EXPECT_FALSE(detail::under_policy(plain, policy).fenced);
  EXPECT_TRUE(detail::under_policy(said, policy).fenced);
  policy.over.fenced = true;
  EXPECT_TRUE(detail::under_policy(plain, policy).fenced);
}

static_assert(detail::named_type("LockType::READ, 3s") == LockType::READ);
static_assert(detail::named_type("type, 3s") == LockType::PERMIT);

}  // namespace
}  // namespace latchkey
