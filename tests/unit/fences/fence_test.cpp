// Fence: its text form, and what a receiver checks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <latchkey/error.hpp>
#include <latchkey/fence.hpp>
#include <latchkey/fences/seen_fences.hpp>
#include <latchkey/locks.hpp>

#include "support/refusal.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using ::testing::HasSubstr;

constexpr LockType all_types[] = {LockType::REENTRANT, LockType::FAIR, LockType::READ,
                                  LockType::WRITE, LockType::FENCED};

/// Whether a text may be an element of a list in an HTTP header.
bool fits_a_header(const std::string& text) {
  return std::ranges::all_of(text, [](char byte) {
    return byte > ' ' && byte < '\x7f' && std::string_view(",;\"").find(byte) == std::string::npos;
  });
}

/// The error of parsing `text`, whose column is required to be `column`.
std::string error_of(std::string_view text, std::size_t column) {
  try {
    const Fence fence = Fence::parse(text);
    return "no error: " + fence.text();
  } catch (const FenceError& error) {
    EXPECT_EQ(error.column(), column) << error.what();
    return error.what();
  }
}

TEST(FenceText, IsKeyTypeAndToken) {
  const Fence fence{.key = "order:42", .token = 1764};
  EXPECT_EQ(fence.text(), "order:42/FENCED/1764");
  EXPECT_EQ(Fence::parse("order:42/WRITE/1764"),
            (Fence{.key = "order:42", .type = LockType::WRITE, .token = 1764}));
}

TEST(FenceText, EscapesWhatIsNoPrintableAsciiAndWhatSeparates) {
  EXPECT_EQ((Fence{.key = "a/b c%\n\0,;\"'`\\\xc3\xa9"s, .token = 1}).escaped_key(),
            "a%2Fb%20c%25%0A%00%2C%3B%22%27%60%5C%C3%A9");
  EXPECT_EQ((Fence{.key = "{a}:b[1]~!@#$^&*()-_=+|<>?."}).escaped_key(),
            "{a}:b[1]~!@#$^&*()-_=+|<>?.");
}

TEST(FenceText, EachByteAndEachTypeRoundTrips) {
  for (int byte = 0; byte < 256; ++byte) {
    for (const LockType type : all_types) {
      const Fence fence{
          .key = std::string("x") + static_cast<char>(byte), .type = type, .token = 7};
      EXPECT_EQ(Fence::parse(fence.text()), fence) << fence.text();
      EXPECT_TRUE(fits_a_header(fence.text())) << fence.text();
    }
  }
}

TEST(FenceText, RandomKeysRoundTripAndDifferentFencesHaveDifferentTexts) {
  std::mt19937_64 random(44);
  Fence before;
  for (int round = 0; round < 20'000; ++round) {
    Fence fence;
    fence.key.resize(random() % 24);
    for (char& byte : fence.key) byte = static_cast<char>(random() % 256);
    fence.type = all_types[random() % std::size(all_types)];
    fence.token = std::max<std::uint64_t>(1, random() >> random() % 64);
    const std::string text = fence.text();
    ASSERT_EQ(Fence::parse(text), fence) << text;
    ASSERT_TRUE(fits_a_header(text)) << text;
    ASSERT_EQ(text == before.text(), fence == before) << text;
    before = std::move(fence);
  }
}

// Every change of one byte gives a fence with another text, or an error with a column inside.
TEST(FenceText, AChangedTextIsAnotherFenceOrAnErrorWithAPlace) {
  std::mt19937_64 random(45);
  const std::string right = Fence{.key = "a b/c:\xff", .token = 1764352651000000}.text();
  int errors = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text = right;
    const std::size_t at = random() % text.size();
    switch (random() % 3) {
      case 0: text[at] = static_cast<char>(random() % 256); break;
      case 1: text.erase(at, 1); break;
      default: text.insert(at, 1, static_cast<char>(random() % 256));
    }
    try {
      EXPECT_EQ(Fence::parse(Fence::parse(text).text()), Fence::parse(text)) << text;
    } catch (const FenceError& error) {
      ++errors;
      EXPECT_GE(error.column(), 1U) << error.what();
      EXPECT_LE(error.column(), text.size() + 1) << error.what();
    }
  }
  EXPECT_GT(errors, 1000);
}

TEST(FenceText, ErrorsNameThePlaceTheWordAndTheCure) {
  EXPECT_EQ(error_of("order:42/FENCD/17", 10),
            "fence 'order:42/FENCD/17':10: unknown lock type 'FENCD'; did you mean 'FENCED'?");
  EXPECT_THAT(error_of("order:42/x/17", 10), HasSubstr("expected one of REENTRANT, FAIR, READ"));
  EXPECT_THAT(error_of("order:42/PERMIT/17", 10), HasSubstr("unknown lock type 'PERMIT'"));
  EXPECT_EQ(error_of("", 1), "fence '':1: the text ends after the key; expected key/TYPE/token");
  EXPECT_THAT(error_of("order:42", 9), HasSubstr("the text ends after the key"));
  EXPECT_THAT(error_of("order:42/FENCED", 16), HasSubstr("the text ends after the type"));
  EXPECT_THAT(error_of("a%2/FENCED/1", 2), HasSubstr("two hexadecimal digits"));
  EXPECT_THAT(error_of("a%", 2), HasSubstr("two hexadecimal digits"));
  EXPECT_THAT(error_of("a%-1/FENCED/1", 2), HasSubstr("two hexadecimal digits"));
  EXPECT_THAT(error_of("a b/FENCED/1", 2), HasSubstr("a key has no ' ' here; expected it as '%'"));
  EXPECT_THAT(error_of("a\n/FENCED/1", 2), HasSubstr("has no '\\n' here"));
  for (const char* const wrong : {"", "0", "01", "-1", "+1", "1 ", "0x1", "1/2", "1e3",
                                  "18446744073709551616", "99999999999999999999"}) {
    EXPECT_THAT(error_of(std::string("order:42/FENCED/") + wrong, 17),
                HasSubstr("expected a decimal number from 1 to 18446744073709551615"));
  }
}

TEST(FenceText, AnyByteOfTheKeyMayBeEncoded) {
  EXPECT_EQ(Fence::parse("%6fr%64er%3a42/FENCED/1").key, "order:42");
}

TEST(FenceText, TheLargestTokenRoundTrips) {
  const Fence fence{.key = "k", .token = std::numeric_limits<std::uint64_t>::max()};
  EXPECT_EQ(Fence::parse(fence.text()), fence);
}

TEST(Fence, IsNewerThanComparesTokensOfOneKey) {
  const Fence old{.key = "a", .token = 5}, fresh{.key = "a", .type = LockType::WRITE, .token = 6};
  EXPECT_TRUE(fresh.is_newer_than(old));
  EXPECT_FALSE(old.is_newer_than(fresh));
  EXPECT_FALSE(old.is_newer_than(old));
  try {
    static_cast<void>(old.is_newer_than({.key = "b", .token = 1}));
    ADD_FAILURE() << "compared two keys";
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), HasSubstr("a/FENCED/5 and b/FENCED/1 are of different keys"));
  }
}

TEST(CheckFence, ReturnsTheFenceOfTheExpectedKey) {
  EXPECT_EQ(check_fence("order:42/FENCED/17", "order:42"), (Fence{.key = "order:42", .token = 17}));
  EXPECT_EQ(check_fence("a%2Fb/WRITE/17", "a/b", LockType::WRITE).token, 17U);
}

TEST(CheckFence, AnotherKeyOrTypeIsAnErrorWithBoth) {
  EXPECT_EQ(tests::refusal([] { check_fence("order:7/FENCED/17", "order:42"); }),
            "fence 'order:7/FENCED/17':1: the key is 'order:7'; expected 'order:42'");
  EXPECT_EQ(tests::refusal([] { check_fence("order:42/WRITE/17", "order:42"); }),
            "fence 'order:42/WRITE/17':10: the lock type is WRITE; expected FENCED");
}

TEST(CheckFence, GivesTheTokenToTheGuard) {
  SeenFences seen;
  EXPECT_EQ(check_fence("k/FENCED/9", "k", seen).token, 9U);
  EXPECT_THROW(check_fence("k/FENCED/8", "k", seen), FenceRejected);
  EXPECT_THROW(check_fence("other/FENCED/10", "k", seen), FenceError);
  EXPECT_EQ(seen.highest("other"), std::nullopt);
  EXPECT_EQ(check_fence("k/WRITE/9", "k", SeenFences(), LockType::WRITE).token, 9U);
}

TEST(FenceOfAHold, HasTheKeyWithoutThePrefixAndTheToken) {
  Locks locks = Locks::connect("memory:", {.prefix = "shop:"});
  const Hold hold = locks.lock("order 42", LockType::FENCED).acquire(1s, 30s);
  const std::optional<Fence> fence = hold.fence();
  ASSERT_TRUE(fence.has_value());
  EXPECT_EQ(*fence, (Fence{.key = "order 42", .token = *hold.fencing_token()}));
  EXPECT_EQ(hold.fence("order 42"), fence);
  EXPECT_EQ(hold.fence("other"), std::nullopt);
  EXPECT_EQ(hold.fence("shop:order 42"), std::nullopt);
}

TEST(FenceOfAHold, IsEmptyWithoutAToken) {
  Locks locks = Locks::connect("memory:");
  Hold hold = locks.lock("a", LockType::WRITE).acquire(1s, 30s);
  EXPECT_EQ(hold.fence(), std::nullopt);
  EXPECT_EQ(hold.fence("a"), std::nullopt);
  hold.release();
  EXPECT_EQ(hold.fence(), std::nullopt);
  EXPECT_EQ(hold.fence(""), std::nullopt);
}

TEST(FenceOfAHold, SeveralKeysHaveOneEach) {
  Locks locks = Locks::connect("memory:");
  const Hold hold = locks
                        .all_of({locks.lock("b", LockType::FENCED), locks.lock("a"),
                                 locks.lock("c", LockType::FENCED)})
                        .acquire(1s, 30s);
  EXPECT_EQ(hold.fence(), std::nullopt);
  EXPECT_EQ(hold.fence("a"), std::nullopt);
  EXPECT_EQ(hold.fence("b"), (Fence{.key = "b", .token = *hold.fencing_token("b")}));
  EXPECT_EQ(hold.fence("c"), (Fence{.key = "c", .token = *hold.fencing_token("c")}));
}

TEST(FenceOfAHold, ALaterHoldersIsNewer) {
  Locks locks = Locks::connect("memory:");
  auto lock = locks.lock("a", LockType::FENCED);
  const Fence first = lock.acquire(1s, 30s).fence().value();
  const Fence second = lock.acquire(1s, 30s).fence().value();
  EXPECT_TRUE(second.is_newer_than(first));
}

}  // namespace
}  // namespace latchkey
