// Values whose text is computed: bytes, chrono's types, and types with latchkey_key. Each test runs
// the compiled key and the parsed one.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/key.hpp>
#include <latchkey/parsed_key.hpp>

namespace shop {

enum class Color { RED, BLUE };
std::string latchkey_key(Color color) { return color == Color::RED ? "red" : "b:lue"; }

// Has no hook, and must not use Money's, to which an int converts.
enum Plain { ZERO, ONE };

struct Money {
  Money(long number) : cents(number) {}  // NOLINT(google-explicit-constructor): the trap
  friend std::string latchkey_key(const Money& money) { return std::to_string(money.cents) + "ct"; }
  long cents;
};

template <class Tag>
struct Strong {
  std::string text;
};
template <class Tag>
std::string_view latchkey_key(const Strong<Tag>& strong) {
  return strong.text;
}
struct UserId : Strong<UserId> {};

// Looks like a pointer, and has a text.
struct Handle {
  int number = 0;
  explicit operator bool() const { return number != 0; }
  const int& operator*() const { return number; }
};
const char* latchkey_key(const Handle& handle) { return handle.number == 0 ? nullptr : "handle"; }

struct Order {
  int id = 0;
  Color color = Color::RED;
  std::array<std::byte, 4> uuid{};
  std::optional<std::chrono::sys_seconds> paid{};
  LATCHKEY_REFLECT(Order);
  friend std::string latchkey_key(const Order& order) { return "o" + std::to_string(order.id); }
};

}  // namespace shop

namespace latchkey {
namespace {

using namespace std::chrono;

template <class Call>
std::string outcome(Call call) {
  try {
    KeyBuffer out;
    call(out);
    return std::string(out.view());
  } catch (const KeyError& error) {
    return std::string("error: ") + error.what();
  }
}

/// Returns the text that both evaluators give for the key, whose only argument is `a`.
template <FixedString Template, class T>
std::string text(const T& a) {
  const BoundKey bound = bind_key(parse_key(Template.view()), schema_of<"a", T>());
  const std::string compiled =
      outcome([&](KeyBuffer& out) { Key<Template>::template render<"a">(out, a); });
  const std::string parsed =
      outcome([&](KeyBuffer& out) { bound.render(out, argument_pointers(a)); });
  EXPECT_EQ(compiled, parsed) << Template.view();
  return compiled;
}

TEST(KeyMadeText, BytesAreLowerCaseHexadecimal) {
  const std::array<std::byte, 4> uuid{std::byte{0xDE}, std::byte{0xAD}, std::byte{0}, std::byte{9}};
  EXPECT_EQ(text<"user:{a}">(uuid), "user:dead0009");
  EXPECT_EQ(text<"{a}">(std::span<const std::byte>(uuid)), "dead0009");
  EXPECT_EQ(text<"{a}">(std::array<unsigned char, 2>{1, 255}), "01ff");
  EXPECT_EQ(text<"{a}">(std::vector<unsigned char>(65, 0xAB)).size(), 130U);
  const unsigned char plain[2] = {1, 2};
  EXPECT_EQ(text<"{a}">(plain), "0102");
  EXPECT_EQ(text<"{upper(a)}">(uuid), "DEAD0009");
  EXPECT_EQ(text<"{a}">(std::make_optional(uuid)), "dead0009");
}

TEST(KeyMadeText, BytesCanBeIndexedAndCounted) {
  const std::vector<unsigned char> bytes{7, 255};
  EXPECT_EQ(text<"{a[1]}">(bytes), "255");
  EXPECT_EQ(text<"{size(a)}">(bytes), "2");
  EXPECT_EQ((Key<"{a[*]}">::render_many<"a">(bytes)), (std::vector<std::string>{"7", "255"}));
  EXPECT_EQ(text<"{a}">(std::vector<unsigned char>{}),
            "error: key '{a}': a is an empty text; a default is written {a ?: 'other'}");
}

TEST(KeyMadeText, EqualDurationsHaveOneTextWhateverTheirUnit) {
  EXPECT_EQ(text<"{a}">(seconds(90)), "90s");
  EXPECT_EQ(text<"{a}">(milliseconds(90'000)), "90s");
  EXPECT_EQ(text<"{a}">(hours(2)), "7200s");
  EXPECT_EQ(text<"{a}">(milliseconds(-1500)), "-1.5s");
  EXPECT_EQ(text<"{a}">(nanoseconds(1)), "0.000000001s");
  EXPECT_EQ(text<"{a}">(seconds(0)), "0s");
  EXPECT_EQ(text<"{a}">(nanoseconds::min()), "-9223372036.854775808s");
  EXPECT_EQ(text<"{a}">(duration<unsigned, std::deci>(15U)), "1.5s");
  EXPECT_EQ(text<"{a}">(hours::max()), "33204139332677192905200s");
}

TEST(KeyMadeText, EqualInstantsHaveOneTextWhateverTheirUnit) {
  EXPECT_EQ(text<"{a}">(sys_days{2024y / 5 / 1}), "20240501T000000Z");
  EXPECT_EQ(text<"{a}">(sys_seconds{sys_days{2024y / 5 / 1}}), "20240501T000000Z");
  EXPECT_EQ(text<"{a}">(sys_days{2024y / 2 / 29} + 13h + 5ms), "20240229T130000.005Z");
  EXPECT_EQ(text<"{a}">(sys_days{1970y / 1 / 1} - 1ns), "19691231T235959.999999999Z");
  EXPECT_EQ(text<"{a}">(sys_days{1900y / 3 / 1} - 1s), "19000228T235959Z");
  EXPECT_EQ(text<"{a}">(sys_days{2000y / 3 / 1} - 1s), "20000229T235959Z");
  EXPECT_EQ(text<"{a}">(sys_days{year(-1) / 12 / 31}), "-00011231T000000Z");
  EXPECT_EQ(text<"{a}">(sys_days{12000y / 3 / 1}), "+120000301T000000Z");
}

TEST(KeyMadeText, EveryDayOfThreeCenturiesIsWrittenAsItsDate) {
  for (sys_days day = 1800y / 1 / 1; day < sys_days{2100y / 1 / 1}; day += days(1)) {
    const year_month_day date(day);
    char expected[40];
    std::snprintf(expected, sizeof expected, "%04d%02u%02uT000000Z", int(date.year()),
                  unsigned(date.month()), unsigned(date.day()));
    const std::int64_t since = day.time_since_epoch().count();
    const reflect::Ticks ticks{static_cast<std::uint64_t>(since < 0 ? -since : since), since < 0,
                               86400, 1};
    ASSERT_EQ(reflect::instant_text(ticks).view(), expected);
  }
}

TEST(KeyMadeText, ATimeOfAnotherClockIsWrittenAsTheTimeSinceItsEpoch) {
  EXPECT_EQ(text<"{a}">(steady_clock::time_point(5ms)), "0.005s");
}

TEST(KeyMadeText, AHookGivesTheTextAndItIsEscaped) {
  EXPECT_EQ(text<"{a}">(shop::Color::BLUE), "b%3Alue");
  EXPECT_EQ(text<"{raw(a)}">(shop::Color::BLUE), "b:lue");
  EXPECT_EQ(text<"{upper(a)}">(shop::Color::RED), "RED");
  EXPECT_EQ(text<"{a % 2}">(shop::Color::BLUE), "1");
  EXPECT_EQ(text<"{size(a)}">(shop::Color::RED), "3");
  EXPECT_EQ(text<"{a}">(shop::Money(5)), "5ct");
  EXPECT_EQ(text<"{a}">(std::make_unique<shop::Money>(5)), "5ct");
  EXPECT_EQ(text<"{a[0]}">(std::vector<shop::Money>{5}), "5ct");
}

TEST(KeyMadeText, AHookIsFoundForTemplatesAndDerivedTypesAndNeverThroughAConversion) {
  EXPECT_EQ(text<"{a}">(shop::UserId{{"x/y"}}), "x%2Fy");
  EXPECT_EQ(text<"{a}">(shop::ONE), "1");
}

TEST(KeyMadeText, AHookThatReturnsAnEmptyTextUsesTheDefault) {
  EXPECT_EQ(text<"{a}">(shop::Handle{1}), "handle");
  EXPECT_EQ(text<"{a ?: 'none'}">(shop::Handle{}), "none");
  EXPECT_EQ(text<"{a}">(shop::UserId{}),
            "error: key '{a}': a is an empty text; a default is written {a ?: 'other'}");
}

TEST(KeyMadeText, FieldsOfATypeWithAHookAreReachedToo) {
  shop::Order order{.id = 7, .uuid = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}}};
  EXPECT_EQ(text<"{a}">(order), "o7");
  EXPECT_EQ(text<"{a.id}/{a.color}/{a.uuid}">(order), "7/red/01020304");
  EXPECT_EQ(text<"{a.paid ?: 'open'}">(order), "open");
  order.paid = sys_seconds(1s);
  EXPECT_EQ(text<"{a.paid ?: 'open'}">(order), "19700101T000001Z");
}

struct Box {
  int width = 0;
  LATCHKEY_REFLECT(Box);
};

TEST(KeyMadeText, TheErrorForATypeWithoutATextNamesTheHook) {
  try {
    static_cast<void>(bind_key(parse_key("{a}"), schema_of<"a", Box>()));
    FAIL() << "a whole object made a key";
  } catch (const KeyError& error) {
    EXPECT_NE(std::string(error.what())
                  .find("name one of its fields: width; or write std::string "
                        "latchkey_key(const "),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace latchkey
