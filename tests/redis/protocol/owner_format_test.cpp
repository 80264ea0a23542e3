// The texts of owners: lengths, alphabets, and that no two holds share one.
#include "redis/protocol/owner_format.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <string_view>

namespace latchkey::tests {
namespace {

using detail::redis::OwnerFormat;
using detail::redis::OwnerText;

std::string text(std::uint64_t number, OwnerFormat format, std::uint64_t space = 1) {
  return std::string(OwnerText({{0x6ad76760e86c8273, space}, number}, format));
}

bool is_letter_or_digit(char each) { return std::isalnum(static_cast<unsigned char>(each)) != 0; }

TEST(OwnerFormat, HoldIdIsTheTextOfTheId) {
  const HoldId id{{0x6ad76760e86c8273, 0xa5a4ad3e58e61a2b}, 42};
  EXPECT_EQ(std::string_view(OwnerText(id)), id.text());
  EXPECT_EQ(std::string_view(OwnerText(id, OwnerFormat::hold_id)), id.text());
}

TEST(OwnerFormat, RedlockIs22LettersAndDigits) {
  for (std::uint64_t number = 0; number < 1'000; ++number) {
    const std::string owner = text(number, OwnerFormat::redlock);
    EXPECT_EQ(owner.size(), 22U);
    EXPECT_TRUE(std::ranges::all_of(owner, is_letter_or_digit)) << owner;
  }
}

TEST(OwnerFormat, RedsyncIsBase64Of16Bytes) {
  for (std::uint64_t number = 0; number < 1'000; ++number) {
    const std::string owner = text(number, OwnerFormat::redsync);
    ASSERT_EQ(owner.size(), 24U);
    EXPECT_TRUE(owner.ends_with("==")) << owner;
    EXPECT_EQ(std::string_view("AQgw").find(owner[21]) != std::string_view::npos, true) << owner;
    const auto valid = [](char each) {
      return is_letter_or_digit(each) || each == '+' || each == '/';
    };
    EXPECT_TRUE(std::all_of(owner.begin(), owner.end() - 2, valid)) << owner;
  }
}

TEST(OwnerFormat, OwnersDifferAlsoIfOneBitOfTheSpaceDoes) {
  for (const OwnerFormat format : {OwnerFormat::redlock, OwnerFormat::redsync}) {
    std::set<std::string> owners;
    std::size_t count = 0;
    for (std::uint64_t number = 0; number < 2'000; ++number) {
      for (const std::uint64_t space : {1U, 2U, 3U}) {
        owners.insert(text(number, format, space));
        ++count;
      }
    }
    EXPECT_EQ(owners.size(), count);
  }
}

// Holds of two versions of latchkey may meet: the same id has the same text in both.
TEST(OwnerFormat, TextsNeverChange) {
  EXPECT_EQ(text(1, OwnerFormat::redlock), "2oQ8YQgUTz6KeykqIRtadI");
  EXPECT_EQ(text(1, OwnerFormat::redsync), "XG9BaJAWrh78duBN0CRKzA==");
}

}  // namespace
}  // namespace latchkey::tests
