// Tests of rendered keys in code: each kind of value, escaping, functions, limits, no heap.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <set>

#include <latchkey/error.hpp>
#include <latchkey/key.hpp>
#include <latchkey/key_hash.hpp>

#include "unit/key/sample.hpp"

namespace latchkey {
namespace {

using sample::Account;
using sample::Address;
using sample::Color;

template <FixedString Template, FixedString Names = "a", class... Args>
std::string rendered(const Args&... args) {
  KeyBuffer out;
  Key<Template>::template render<Names>(out, args...);
  return std::string(out.view());
}

TEST(KeyRender, LiteralTextNeedsNoArguments) {
  EXPECT_EQ((rendered<"updateKey", "">()), "updateKey");
  EXPECT_EQ((rendered<"'updateKey'", "">()), "updateKey");
  EXPECT_EQ((rendered<"{{a}}", "">()), "{a}");
  EXPECT_EQ((rendered<"'it''s'", "">()), "it's");
  EXPECT_EQ((rendered<"{'#'}1", "">()), "#1");
}

TEST(KeyRender, IntegersAreRenderedInDecimal) {
  EXPECT_EQ(rendered<"{a}">(0), "0");
  EXPECT_EQ(rendered<"{a}">(-1), "-1");
  EXPECT_EQ(rendered<"{a}">(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(rendered<"{a}">(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(rendered<"{a}">(std::uint8_t{200}), "200");
  EXPECT_EQ(rendered<"{a}">(std::int8_t{-128}), "-128");
  std::uint64_t power = 1;
  for (int digits = 1; digits < 20; ++digits, power *= 10) {
    EXPECT_EQ(rendered<"{a}">(power), std::to_string(power));
    EXPECT_EQ(rendered<"{a}">(power - 1), std::to_string(power - 1));
    EXPECT_EQ(rendered<"{a}">(power + 7), std::to_string(power + 7)) << "zeros inside";
    EXPECT_EQ(rendered<"{a}">(-static_cast<std::int64_t>(power)), "-" + std::to_string(power));
  }
}

TEST(KeyRender, BooleansCharactersEnumsAndTextsAreRendered) {
  EXPECT_EQ(rendered<"{a}">(true), "true");
  EXPECT_EQ(rendered<"{a}">(false), "false");
  EXPECT_EQ(rendered<"{a}">('x'), "x");
  EXPECT_EQ(rendered<"{a}">(Color::NONE), "-1");
  EXPECT_EQ(rendered<"{a}">(sample::ONE), "1");
  EXPECT_EQ(rendered<"{a}">("literal"), "literal");
  EXPECT_EQ(rendered<"{a}">(static_cast<const char*>("pointer")), "pointer");
  EXPECT_EQ(rendered<"{a}">(std::string_view("view")), "view");
  const char unterminated[3] = {'a', 'b', 'c'};
  EXPECT_EQ(rendered<"{a}">(unterminated), "abc");
}

TEST(KeyRender, LooksThroughPointersOptionalsAndWrappers) {
  const Address address{"10115", 4};
  EXPECT_EQ(rendered<"{a.zip}">(&address), "10115");
  EXPECT_EQ(rendered<"{a.zip}">(std::cref(address)), "10115");
  EXPECT_EQ(rendered<"{a.zip}">(std::make_shared<Address>(address)), "10115");
  EXPECT_EQ(rendered<"{a.zip}">(std::optional(std::make_shared<Address>(address))), "10115");
  EXPECT_EQ(rendered<"{a[1]}">(std::optional(std::vector<int>{1, 2})), "2");
}

TEST(KeyRender, ElementsOfContainersAndMapsAreRendered) {
  EXPECT_EQ(rendered<"{a[1]}">(std::array<int, 2>{5, 6}), "6");
  EXPECT_EQ(rendered<"{a[0]}">(std::set<int>{9, 8}), "8");
  EXPECT_EQ(rendered<"{a[1]}">(std::vector<bool>{false, true}), "true");
  const int plain[] = {7, 8};
  EXPECT_EQ(rendered<"{a[1]}">(plain), "8");
  EXPECT_EQ((rendered<"{a['x']}">(std::map<std::string, int, std::less<>>{{"x", 1}})), "1");
  EXPECT_EQ(
      (rendered<"{a[3].first}:{a[3].second}">(std::map<int, std::pair<int, int>>{{3, {1, 2}}})),
      "1:2");
  // A number that the map's keys cannot hold is absent, not cut to size.
  EXPECT_EQ((rendered<"{a[256] ?: 'none'}">(std::map<std::uint8_t, int>{{0, 1}})), "none");
}

TEST(KeyRender, EveryByteIsEscapedAlikeAtEveryLength) {
  for (int byte = 0; byte < 256; ++byte) {
    for (std::size_t size = 1; size < 40; ++size) {
      for (const std::size_t at : {std::size_t{0}, size / 2, size - 1}) {
        std::string text(size, 'x');
        text[at] = static_cast<char>(byte);
        std::string expected = text;
        if (detail::is_escaped(static_cast<unsigned char>(byte))) {
          char escape[4];
          std::snprintf(escape, sizeof escape, "%%%02X", static_cast<unsigned>(byte));
          expected.replace(at, 1, escape);
        }
        ASSERT_EQ(rendered<"{a}">(text), expected) << byte << " at " << at << " of " << size;
      }
    }
  }
  EXPECT_EQ(rendered<"{a}">("% {}:/,|#'\t\x7F~!$&é"), "%25%20%7B%7D%3A%2F%2C%7C%23%27%09%7F~!$&é");
  EXPECT_EQ(rendered<"{raw(a)}">("a:b/c"), "a:b/c");
}

TEST(KeyRender, TheTemplatesOwnTextIsNeverEscaped) {
  EXPECT_EQ(rendered<"a b:{a}|{'c:d'}">(1), "a b:1|c:d");
  EXPECT_EQ(rendered<"'user:' + #a">("x:y"), "user:x%3Ay");
}

TEST(KeyRender, FunctionsAndModuloAreApplied) {
  EXPECT_EQ(rendered<"{lower(a)}">("MiXed/É"), "mixed%2FÉ");
  EXPECT_EQ(rendered<"{upper(a)}">("a/b"), "A%2FB");
  EXPECT_EQ(rendered<"{upper(lower(a))}">("aB"), "AB");
  EXPECT_EQ(rendered<"{size(a)}">(std::vector<int>{}), "0");
  EXPECT_EQ(rendered<"{size(a)}">("four"), "4");
  EXPECT_EQ(rendered<"{a % 8}">(-3), "5");
  EXPECT_EQ(rendered<"{a % 8}">(-8), "0");
  EXPECT_EQ(rendered<"{a % 7}">(std::numeric_limits<std::int64_t>::min()), "6");
}

TEST(KeyRender, HashValuesNeverChange) {
  // Computed by an independent implementation; docs/keys.md shows them too.
  static_assert(key_hash("") == 17280346270528514342U);
  static_assert(key_hash("a") == 9413272369427828315U);
  static_assert(key_hash("42") == 9298553800152202476U);
  static_assert(key_hash("-1") == 3931816300471188059U);
  static_assert(key_hash("order-7") == 4135112802681129290U);
  static_assert(key_hash("user@example.com") == 11016093194696575294U);
  static_assert(key_hash("J\u00FCrgen") == 834718852416519655U);
  EXPECT_EQ(key_hash(std::string(100, 'x')), 4861489788728633501U);
  EXPECT_EQ(rendered<"{hash(a)}">("order-7"), "4135112802681129290");
  EXPECT_EQ(rendered<"{hash(a) % 64}">("user@example.com"), "62");
  EXPECT_EQ(rendered<"{hash(a)}">(42), "9298553800152202476");
  // The hash is that of the text as it would stand in the key: escaped, unless raw.
  EXPECT_EQ(rendered<"{hash(a)}">("a/b"), "17958288187378220828");
  EXPECT_EQ(rendered<"{hash(raw(a))}">("a/b"), "17484577898152094444");
  // Longer than any key, because it is never kept.
  EXPECT_EQ(rendered<"{hash(a)}">(std::string(5000, 'x')),
            std::to_string(key_hash(std::string(5000, 'x'))));
}

TEST(KeyRender, DefaultsReplaceAbsentAndEmptyValues) {
  EXPECT_EQ(rendered<"{a ?: 'none'}">(std::optional<int>{}), "none");
  EXPECT_EQ(rendered<"{a ?: 'none'}">(std::optional<int>{3}), "3");
  EXPECT_EQ(rendered<"{a ?: 'none'}">(""), "none");
  EXPECT_EQ((rendered<"{a ?: b}", "a, b">(std::optional<int>{}, "x/y")), "x%2Fy");
  // The text that the first alternative had already written is taken back.
  EXPECT_EQ((rendered<"{b + ':' + a ?: 'none'}", "a, b">(std::optional<int>{}, 1)), "none");
  EXPECT_EQ((rendered<"{hash(b + ':' + a ?: 'none')}", "a, b">(std::optional<int>{}, 1)),
            std::to_string(key_hash("none")));
}

TEST(KeyRender, KeysAreAtMostOneKibibyte) {
  EXPECT_EQ(rendered<"{a}">(std::string(1024, 'x')).size(), 1024U);
  EXPECT_THROW(rendered<"{a}">(std::string(1025, 'x')), KeyError);
  EXPECT_THROW(rendered<"{a}">(std::string(1000000, 'x')), KeyError);
  EXPECT_THROW(rendered<"{a}">(std::string(400, '/')), KeyError);
  EXPECT_THROW(rendered<"{a}:{a}">(std::string(512, 'x')), KeyError);
  EXPECT_EQ(rendered<"{a}:1">(std::string(1022, 'x')).size(), 1024U);
  EXPECT_THROW(rendered<"{a}:12">(std::string(1022, 'x')), KeyError);
  EXPECT_EQ((rendered<"{a}{':' + b}", "a, b">(std::string(1003, 'x'), UINT64_MAX)).size(), 1024U);
  EXPECT_THROW((rendered<"{a}{':' + b}", "a, b">(std::string(1004, 'x'), UINT64_MAX)), KeyError);
}

TEST(KeyRender, KeysUpTo64BytesStayInTheBuffer) {
  KeyBuffer out;
  const auto inside = [&] {
    const auto at = reinterpret_cast<std::uintptr_t>(out.view().data());
    const auto begin = reinterpret_cast<std::uintptr_t>(&out);
    return at >= begin && at < begin + sizeof out;
  };
  for (std::size_t size = 1; size <= 64; ++size) {
    Key<"{a}">::render<"a">(out, std::string(size, 'x'));
    EXPECT_TRUE(inside()) << size;
  }
  Key<"{a}:{b}">::render<"a, b">(out, std::string(43, 'x'), UINT64_MAX);
  EXPECT_EQ(out.size(), 64U);
  EXPECT_TRUE(inside());
  Key<"{a}">::render<"a">(out, std::string(200, 'x'));
  EXPECT_FALSE(inside());
}

TEST(KeyRender, ManyKeysOneForEachElement) {
  using Strings = std::vector<std::string>;
  const std::vector<int> ids{3, 1, 2};
  static_assert(Key<"k:{ids[*]}">::many);
  static_assert(!Key<"k:{ids[0]}">::many);
  EXPECT_EQ((Key<"k:{ids[*]}">::render_many<"ids">(ids)), (Strings{"k:3", "k:1", "k:2"}));
  EXPECT_EQ((Key<"k:{ids[*]}">::render_many<"ids">(std::vector<int>{})), Strings{});
  EXPECT_EQ((Key<"k:{ids[0]}">::render_many<"ids">(ids)), Strings{"k:3"});
  EXPECT_EQ((Key<"{a[*].zip}">::render_many<"a">(std::vector<Address>{{"x", 1}, {"y", 2}})),
            (Strings{"x", "y"}));
  const std::vector<std::optional<int>> gaps{1, std::nullopt};
  EXPECT_EQ((Key<"{a[*] ?: 'none'}">::render_many<"a">(gaps)), (Strings{"1", "none"}));
  EXPECT_THROW((Key<"{a[*]}">::render_many<"a">(gaps)), KeyError);
}

TEST(KeyRender, NamesAreTheTextOfTheArguments) {
  EXPECT_EQ((rendered<"{b}", "a , b">(1, 2)), "2");
  EXPECT_EQ((rendered<"{b}", "f(a, c), b">(1, 2)), "2");
  EXPECT_EQ((rendered<"{b}", "g(\",\"), b">(1, 2)), "2");
  EXPECT_EQ((rendered<"{b}", "g('\\''), b">(1, 2)), "2");
  EXPECT_EQ((rendered<"{1}:{0}", "">(1, 2)), "2:1");
}

}  // namespace
}  // namespace latchkey
