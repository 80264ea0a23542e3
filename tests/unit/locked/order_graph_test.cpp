// OrderGraph without locks: cycles, descending keys, and the reports.
#include "locked/order_graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include <latchkey/site.hpp>

namespace latchkey::detail {
namespace {

using ::testing::HasSubstr;

/// Any sites with two names: those of this program.
struct Sites {
  const Site* one = nullptr;
  const Site* other = nullptr;

  Sites() {
    for (const Site& site : sites()) {
      if (one == nullptr) {
        one = &site;
      } else if (site.where() != one->where()) {
        other = &site;
      }
    }
  }
};

class OrderGraphTest : public ::testing::Test {
 protected:
  /// `inner` within `outer`, both keys with the template as their text.
  std::optional<std::string> take(std::string_view outer, std::string_view inner,
                                  std::string_view place = "here") {
    return graph_.add({place, outer, {sites_.one, outer}}, {place, inner, {sites_.other, inner}});
  }
  /// Two keys of one template.
  std::optional<std::string> keys(std::string_view outer, std::string_view inner) {
    return graph_.add({"here", outer, {sites_.one, "k:{a}"}},
                      {"here", inner, {sites_.other, "k:{b}"}});
  }

  const Sites sites_;
  OrderGraph graph_;
};

TEST_F(OrderGraphTest, ReportsNothingForOneOrder) {
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(take("a", "b"), std::nullopt);
    EXPECT_EQ(take("b", "c"), std::nullopt);
    EXPECT_EQ(take("a", "c"), std::nullopt);
  }
}

TEST_F(OrderGraphTest, NamesBothSitesOfBothOrdersOnce) {
  EXPECT_EQ(take("a", "b"), std::nullopt);
  EXPECT_EQ(take("b", "a"), "two locks are taken in both orders: 'a' by " + sites_.other->where() +
                                " within 'b' by " + sites_.one->where() + "; 'b' by " +
                                sites_.other->where() + " within 'a' by " + sites_.one->where() +
                                "; threads that do so at once can wait for each other");
  EXPECT_EQ(take("b", "a"), std::nullopt);
  EXPECT_EQ(take("a", "b"), std::nullopt);
}

TEST_F(OrderGraphTest, FindsCyclesOfThree) {
  EXPECT_EQ(take("a", "b"), std::nullopt);
  EXPECT_EQ(take("b", "c"), std::nullopt);
  const auto report = take("c", "a");
  ASSERT_TRUE(report);
  EXPECT_THAT(*report, HasSubstr("in a circle: 'a' by "));
  EXPECT_THAT(*report, HasSubstr("; 'b' by "));
  EXPECT_THAT(*report, HasSubstr("; 'c' by "));
}

TEST_F(OrderGraphTest, KeysOfDifferentBackendsAreUnrelated) {
  EXPECT_EQ(take("a", "b"), std::nullopt);
  EXPECT_EQ(take("b", "a", "elsewhere"), std::nullopt);
}

TEST_F(OrderGraphTest, TemplatesThatDifferInArgumentNamesAreOneClass) {
  EXPECT_EQ(take("account:{from.id}", "log"), std::nullopt);
  EXPECT_TRUE(take("log", "'account:' + #to.id"));
}

TEST_F(OrderGraphTest, KeysOfOneClassMustAscend) {
  EXPECT_EQ(keys("k:1", "k:2"), std::nullopt);
  EXPECT_EQ(keys("k:2", "k:3"), std::nullopt);
  const auto report = keys("k:2", "k:1");
  ASSERT_TRUE(report);
  EXPECT_EQ(*report, "two keys of one kind are taken in descending order: 'k:1' of 'k:{b}' by " +
                         sites_.other->where() + ", within 'k:2' of 'k:{a}' by " +
                         sites_.one->where() +
                         "; threads that take them in different orders can wait for each other");
  EXPECT_EQ(keys("k:5", "k:4"), std::nullopt) << "once";
}

TEST_F(OrderGraphTest, KeysMayAscendAsNumbers) {
  EXPECT_EQ(keys("k:9", "k:10"), std::nullopt);
  EXPECT_EQ(keys("k:10", "k:11"), std::nullopt);
  EXPECT_TRUE(keys("k:11", "k:9"));
}

TEST_F(OrderGraphTest, KeysMayAscendByBytes) {
  EXPECT_EQ(keys("k:10", "k:9"), std::nullopt);
  EXPECT_TRUE(keys("k:9", "k:10")) << "one order for all, whichever";
}

TEST(ShapeOf, OmitsTheTextInBraces) {
  EXPECT_EQ(shape_of("account:{account.id}"), "account:{}");
  EXPECT_EQ(shape_of("{a}:{b}"), "{}:{}");
  EXPECT_EQ(shape_of("a{{b}}c"), "a{b}c");
  EXPECT_EQ(shape_of("plain"), "plain");
  EXPECT_EQ(shape_of("'user:' + #user.id"), "user:{}");
  EXPECT_EQ(shape_of("#user.id"), "{}");
  EXPECT_EQ(shape_of("'updateKey'"), "updateKey");
}

TEST(BeforeByNumbers, IsAStrictWeakOrder) {
  const std::vector<std::string> ascending = {"",    "1",  "01",   "2",    "10",    "a",
                                              "a1",  "a2", "a2b",  "a10",  "a10b1", "a10b10",
                                              "a11", "b",  "b0:1", "b0:2", "b1",    "\xC3\xA4"};
  // "01" is "1" with a zero more: after it, by bytes before it.
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    EXPECT_FALSE(before_by_numbers(ascending[i], ascending[i]));
    for (std::size_t j = i + 1; j < ascending.size(); ++j) {
      const bool zeros = ascending[i] == "1" && ascending[j] == "01";
      EXPECT_EQ(before_by_numbers(ascending[i], ascending[j]), !zeros)
          << ascending[i] << " " << ascending[j];
      EXPECT_EQ(before_by_numbers(ascending[j], ascending[i]), zeros);
    }
  }
}

}  // namespace
}  // namespace latchkey::detail
