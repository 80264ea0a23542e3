// The argument names of a call, split at the commas that separate them.
#include <latchkey/detail/name_list.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace {

using latchkey::detail::are_names;
using latchkey::detail::name_at;
using latchkey::detail::name_count;
using latchkey::detail::name_position;
using latchkey::detail::NameList;
using latchkey::detail::not_found;

std::vector<std::string> elements(std::string_view text) {
  std::vector<std::string> all;
  for (NameList list(text); list.next();) all.emplace_back(list.name());
  return all;
}

using Elements = std::vector<std::string>;

TEST(NameList, GivesEachElementWithoutBlanks) {
  EXPECT_EQ(elements("account,  amount "), (Elements{"account", "amount"}));
  EXPECT_EQ(elements("one"), Elements{"one"});
}

TEST(NameList, OfABlankTextIsEmpty) {
  EXPECT_TRUE(elements("").empty());
  EXPECT_TRUE(elements("  ").empty());
}

TEST(NameList, GivesAnEmptyElementIfNothingStandsBetweenCommas) {
  EXPECT_EQ(elements("a,,b"), (Elements{"a", "", "b"}));
  EXPECT_EQ(elements("a,"), (Elements{"a", ""}));
}

TEST(NameList, IgnoresCommasWithinBracketsAndQuotes) {
  EXPECT_EQ(elements("f(a, b), c[d, e], T{1, 2}, g"),
            (Elements{"f(a, b)", "c[d, e]", "T{1, 2}", "g"}));
  EXPECT_EQ(elements(R"(",\",", ')', '\'', b)"), (Elements{R"(",\",")", "')'", R"('\'')", "b"}));
}

TEST(NameList, IsSearchedByPositionAndByName) {
  static_assert(name_count("account, amount") == 2);
  static_assert(name_at("account, amount", 1) == "amount");
  static_assert(name_position("account, amount", "amount", 2) == 1);
  static_assert(name_position("account, amount", "amoun", 2) == not_found);
  static_assert(name_count("") == 0);
  static_assert(name_position("", "", 0) == not_found);
}

TEST(NameList, FindsNothingIfItsLengthIsNotTheExpectedOne) {
  static_assert(name_position("account, amount", "account", 1) == not_found);
  static_assert(name_position("account, amount", "amount", 3) == not_found);
}

TEST(AreNames, IsTrueForIdentifiersOnly) {
  static_assert(are_names(""));
  static_assert(are_names("account, _amount2,\u00fc"));
  static_assert(!are_names("account.id"));
  static_assert(!are_names("account id"));
  static_assert(!are_names("account,"));
  static_assert(!are_names(",account"));
  static_assert(!are_names("2nd"));
  static_assert(!are_names("f(account, amount)"));
}

}  // namespace
