// A decorated inline method is one function with one site, however many translation units include
// it.
#include "unit/decorate/inline_methods.hpp"

#include <gtest/gtest.h>

#include <string_view>

#include <latchkey/site.hpp>
#include <latchkey/testing/scoped_locks.hpp>

namespace {

namespace inline_methods = latchkey::inline_methods;

int sites_named(std::string_view name) {
  int count = 0;
  for (const latchkey::Site& site : latchkey::sites()) {
    if (site.name() == name) ++count;
  }
  return count;
}

TEST(InlineMethods, WorkInEachTranslationUnit) {
  const latchkey::testing::ScopedLocks scope(latchkey::Locks::connect("memory:"));
  inline_methods::Bank bank;
  const inline_methods::Account account{7};
  EXPECT_EQ(bank.deposit(account, 5), 5);
  EXPECT_EQ(inline_methods::deposit_elsewhere(bank, account), 15);
  EXPECT_EQ(bank.balance(account), 15);
  EXPECT_EQ(inline_methods::twice(2), 4);
  EXPECT_EQ(inline_methods::twice_elsewhere(bank.echo(3)), 6);
}

TEST(InlineMethods, HaveOneSite) {
  EXPECT_EQ(sites_named("latchkey::inline_methods::Bank::deposit"), 1);
  EXPECT_EQ(sites_named("latchkey::inline_methods::Bank::balance"), 1);
  EXPECT_EQ(sites_named("latchkey::inline_methods::Bank::echo"), 1);
}

}  // namespace
