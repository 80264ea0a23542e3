// The names of Leases.
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>

#include "stores/kubernetes/lease_name.hpp"

namespace latchkey {
namespace {

using detail::kubernetes::key_of;
using detail::kubernetes::lease_name_of;

TEST(LeaseName, AKeyThatIsANameIsItsOwnName) {
  for (const std::string key : {"billing", "a", "9", "billing-leader", "v1.billing", "xx-1"}) {
    EXPECT_EQ(lease_name_of(key), key);
    EXPECT_EQ(key_of(key), key);
  }
}

TEST(LeaseName, OtherBytesAreEscaped) {
  EXPECT_EQ(lease_name_of("leader:billing"), "leaderx--3abilling");
  EXPECT_EQ(lease_name_of("Bank"), "x--42ank");
  EXPECT_EQ(lease_name_of("x--1"), "x--78--1");
  EXPECT_EQ(lease_name_of("-a-"), "x--2dax--2d");
  EXPECT_EQ(lease_name_of("a..b"), "ax--2ex--2eb");
  EXPECT_EQ(key_of("x--4"), std::nullopt);
  EXPECT_EQ(key_of("x--zz"), std::nullopt);
  EXPECT_EQ(key_of("x--61"), std::nullopt) << "'a' needs no escape";
}

// All keys of up to five of the bytes that the rule tells apart.
TEST(LeaseName, EachKeyHasAValidNameOfItsOwn) {
  const std::regex valid("[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*");
  const std::string bytes = "ax-.:";
  std::set<std::string> names;
  int keys = 0;
  for (int length = 1; length <= 5; ++length) {
    int count = 1;
    for (int each = 0; each < length; ++each) count *= static_cast<int>(bytes.size());
    for (int number = 0; number < count; ++number, ++keys) {
      std::string key;
      for (int at = 0, rest = number; at < length; ++at, rest /= 5) {
        key += bytes[static_cast<std::size_t>(rest % 5)];
      }
      const std::string name = lease_name_of(key);
      ASSERT_TRUE(std::regex_match(name, valid)) << key << " is " << name;
      ASSERT_EQ(key_of(name), key) << name;
      names.insert(name);
    }
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(keys));
}

}  // namespace
}  // namespace latchkey
