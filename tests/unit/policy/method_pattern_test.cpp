// Patterns of methods' names.
#include "policy/method_pattern.hpp"

#include <gtest/gtest.h>

namespace latchkey::detail {
namespace {

TEST(MethodPattern, NamesMethodsWithoutTheirOuterNamespaces) {
  EXPECT_TRUE(names_method("Bank::find", "Bank::find"));
  EXPECT_TRUE(names_method("Bank::find", "shop::Bank::find"));
  EXPECT_TRUE(names_method("find", "shop::Bank::find"));
  EXPECT_FALSE(names_method("Bank::find", "Bank::find_all"));
  EXPECT_FALSE(names_method("Bank::find", "SomeBank::find"));
  EXPECT_FALSE(names_method("shop::Bank::find", "Bank::find"));
  EXPECT_FALSE(names_method("*", ""));
}

TEST(MethodPattern, AStarMatchesAnyTextWithoutColons) {
  EXPECT_TRUE(names_method("Bank::*", "shop::Bank::find"));
  EXPECT_TRUE(names_method("Bank::f*d", "Bank::fd"));
  EXPECT_TRUE(names_method("*::find", "shop::Bank::find"));
  EXPECT_TRUE(names_method("B*k::*n*", "Bank::find"));
  EXPECT_TRUE(names_method("*", "Bank::find"));
  EXPECT_TRUE(names_method("bank.cpp:*", "bank.cpp:12"));
  EXPECT_FALSE(names_method("Bank::*", "Bank::Inner::find"));
  EXPECT_FALSE(names_method("B*d", "Bank::find"));
  EXPECT_FALSE(names_method("Bank::*x", "Bank::find"));
}

TEST(MethodPattern, TheMoreSpecificPatternMatchesLess) {
  EXPECT_TRUE(is_more_specific("Bank::find", "Bank::*"));
  EXPECT_TRUE(is_more_specific("Bank::*", "*"));
  EXPECT_TRUE(is_more_specific("Bank::f*", "Bank::*"));
  EXPECT_TRUE(is_more_specific("shop::Bank::*", "Bank::*"));
  EXPECT_FALSE(is_more_specific("Bank::*", "Bank::f*"));
  EXPECT_FALSE(is_more_specific("Bank::*", "*::find"));
  EXPECT_FALSE(is_more_specific("*::find", "Bank::*"));
  EXPECT_FALSE(is_more_specific("Bank::*", "Bank::*"));
  EXPECT_FALSE(is_more_specific("Bank::**", "Bank::*"));
}

}  // namespace
}  // namespace latchkey::detail
