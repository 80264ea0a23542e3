// Two different tuples of plain paths never give one key.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <random>
#include <tuple>

#include <latchkey/key.hpp>

namespace latchkey {
namespace {

// Few bytes, and those that could confuse: so that collisions would be found, if there were any.
std::string confusing_text(std::mt19937_64& random) {
  static constexpr std::string_view bytes = "a2F%:/ 5-";
  std::string text(1 + random() % 4, '\0');
  for (char& byte : text) byte = bytes[random() % bytes.size()];
  return text;
}

template <FixedString Template>
void expect_injective(std::mt19937_64& random) {
  using Values = std::tuple<std::string, std::string, int>;
  std::map<std::string, Values, std::less<>> seen;
  KeyBuffer out;
  for (int round = 0; round < 20000; ++round) {
    const Values values{confusing_text(random), confusing_text(random),
                        static_cast<int>(random() % 40) - 20};
    const auto& [a, b, n] = values;
    Key<Template>::template render<"a, b, n">(out, a, b, n);
    const auto [at, fresh] = seen.try_emplace(std::string(out.view()), values);
    ASSERT_TRUE(fresh || at->second == values)
        << Template.view() << " gives " << out.view() << " twice";
  }
}

TEST(KeyInjective, DifferentValuesNeverGiveOneKey) {
  const char* const given = std::getenv("LATCHKEY_SEED");
  const auto seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  SCOPED_TRACE("LATCHKEY_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  expect_injective<"{a}:{b}/{n}">(random);
  expect_injective<"{n}-:-{b}2F {a}">(random);
  expect_injective<"%2F{a}%25,%{b}|{n}%">(random);
  expect_injective<"{a + ':' + b}#{n}">(random);
  expect_injective<"{a}{{{b}}}{n}">(random);
}

}  // namespace
}  // namespace latchkey
