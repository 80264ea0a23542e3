// Tests of the table of options that each store has.
#include "backend/uri/uri_options.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <stdexcept>
#include <string>

#include "backend/uri/tls_options.hpp"

namespace latchkey::detail {
namespace {

using namespace std::chrono_literals;

enum class Colour { red, green, blue };

struct Toy {
  bool grown = false;
  int count = 0;
  Colour colour = Colour::red;
  std::chrono::milliseconds pause{};
  std::string name;
  TlsOptions tls;
};

using ToyOption = KnownOption<Toy>;
constexpr std::array options{
    ToyOption{"grown", &store_value<&Toy::grown>},
    ToyOption{"count", [](Toy& toy, const UriValue& value) { toy.count = value.number(-1, 10); }},
    ToyOption{"colour",
              [](Toy& toy, const UriValue& value) {
                toy.colour = value.one_of<Colour>(
                    {{"red", Colour::red}, {"green", Colour::green}, {"blue", Colour::blue}});
              }},
    ToyOption{"pause",
              [](Toy& toy, const UriValue& value) {
                toy.pause = value.duration(1ms, 1s, "a time from 1ms to 1s");
              }},
    ToyOption{"name", &store_value<&Toy::name>,
              [](const Toy& toy) -> std::string { return toy.grown ? "" : "grown=yes before it"; }},
    tls_ca<Toy>,
    tls_cert<Toy>,
    tls_key<Toy>,
};
constexpr UriSyntax toy_syntax("Toy", "toy://127.0.0.1:7");

Toy read(std::string_view text, std::string missing_scheme = {}) {
  const UriParts parts = toy_syntax.split(text);
  Toy toy;
  toy.tls.missing_scheme = std::move(missing_scheme);
  read_options(toy_syntax, parts, options, toy);
  toy.tls.complete(toy_syntax);
  return toy;
}

std::string refusal_of(std::string_view text, const std::string& missing_scheme = {}) {
  try {
    static_cast<void>(read(text, missing_scheme));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(UriOptions, AreDecodedAndStored) {
  const Toy toy = read("h?grown=yes&count=-1&colour=blue&pause=5ms&name=a%26b&tls_ca=%2Fca");
  EXPECT_TRUE(toy.grown);
  EXPECT_EQ(toy.count, -1);
  EXPECT_EQ(toy.colour, Colour::blue);
  EXPECT_EQ(toy.pause, 5ms);
  EXPECT_EQ(toy.name, "a&b");
  EXPECT_EQ(toy.tls.ca, "/ca");
  EXPECT_EQ(read("h").count, 0);
}

TEST(UriOptions, WrongValuesAreNamedWithTheRightOnes) {
  EXPECT_EQ(refusal_of("h?grown=maybe"),
            "invalid value 'maybe' of the option 'grown' in the Toy URI; expected yes or no");
  EXPECT_EQ(refusal_of("h?colour=pink"),
            "invalid value 'pink' of the option 'colour' in the Toy URI; expected red, green or "
            "blue");
  for (const std::string number : {"-2", "11", "1.0", "+1", "ten", "4294967297"}) {
    EXPECT_EQ(refusal_of("h?count=" + number),
              "invalid value '" + number +
                  "' of the option 'count' in the Toy URI; expected a whole number from -1 to 10");
  }
  EXPECT_EQ(refusal_of("h?pause=2s"),
            "invalid value '2s' of the option 'pause' in the Toy URI; expected a time from 1ms to "
            "1s");
  EXPECT_EQ(refusal_of("h?name=a%"), "the option 'name' of the Toy URI needs grown=yes before it");
  EXPECT_EQ(refusal_of("h?grown=yes&name=a%"),
            "invalid value of the option 'name' in the Toy URI: '%' must be followed by two "
            "hexadecimal digits; write '%' as %25");
}

TEST(UriOptions, AnUnknownOneIsNamedWithThoseThatThisUriHas) {
  EXPECT_EQ(refusal_of("h?size=1"),
            "unknown option 'size' in the Toy URI; expected one of grown, count, colour, pause, "
            "tls_ca, tls_cert, tls_key");
  EXPECT_EQ(refusal_of("h?grown=yes&size=1", "toys://"),
            "unknown option 'size' in the Toy URI; expected one of grown, count, colour, pause, "
            "name");
}

TEST(UriOptions, TlsOptionsNeedTheSchemeOfTls) {
  EXPECT_EQ(refusal_of("h?tls_ca=/ca", "toys://"),
            "the option 'tls_ca' of the Toy URI needs toys://");
}

TEST(UriOptions, TheKeyIsInTheFileOfTheCertificateUnlessItIsNamed) {
  EXPECT_EQ(read("h?tls_cert=/c&tls_key=/k").tls.key, "/k");
  EXPECT_EQ(read("h?tls_cert=/c").tls.key, "/c");
  EXPECT_EQ(refusal_of("h?tls_key=/k"), "the option 'tls_key' of the Toy URI needs 'tls_cert'");
}

TEST(UriOptions, AnOldNameIsRefusedWithTheNewOne) {
  EXPECT_EQ(refusal_of("h?cafile=/ca"),
            "the option 'cafile' of the Toy URI is now called 'tls_ca'");
  EXPECT_EQ(refusal_of("h?ssl_key=/k"),
            "the option 'ssl_key' of the Toy URI is now called 'tls_key'");
  // This store has no option of the new name.
  EXPECT_EQ(refusal_of("h?servername=x"),
            "unknown option 'servername' in the Toy URI; expected one of grown, count, colour, "
            "pause, tls_ca, tls_cert, tls_key");
}

}  // namespace
}  // namespace latchkey::detail
