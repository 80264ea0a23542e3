// Tests of the syntax that the URIs of all stores share.
#include "backend/uri/uri_syntax.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace latchkey::detail {
namespace {

using namespace std::chrono_literals;

constexpr UriSyntax syntax("Toy", "toy://127.0.0.1:7");

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(UriSyntax, SplitsAndDecodesTheLogin) {
  const UriParts parts = syntax.split("me%40home:p%3Aw@h1:1,h2/some/path?a=b&c=d");
  EXPECT_EQ(parts.user, "me@home");
  EXPECT_EQ(parts.password, "p:w");
  EXPECT_EQ(parts.hosts, "h1:1,h2");
  EXPECT_EQ(parts.path, "/some/path");
  EXPECT_EQ(parts.options, "a=b&c=d");
  EXPECT_FALSE(syntax.split("h1").has_options);
}

TEST(UriSyntax, ReadsHostsWithPorts) {
  const auto all = syntax.endpoints("h1,[::1]:8,10.0.0.1:9", 7);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].text(), "h1:7");
  EXPECT_EQ(all[1].text(), "[::1]:8");
  EXPECT_EQ(all[2], (UriEndpoint{"10.0.0.1", 9}));
}

TEST(UriSyntax, NamesWhatIsWrongWithoutTheLogin) {
  const auto split = [](const char* text) {
    return message_of([=] { static_cast<void>(syntax.split(text)); });
  };
  const auto endpoints = [](const char* text) {
    return message_of([=] { static_cast<void>(syntax.endpoints(text, 7)); });
  };
  EXPECT_EQ(split("me:se@cret@h"),
            "invalid Toy URI: '@' must appear once, after user and password; inside them write "
            "'@' as %40, '/' as %2F, '?' as %3F and '#' as %23");
  EXPECT_EQ(split("me:s%4@h"),
            "invalid password in the Toy URI: '%' must be followed by two hexadecimal digits; "
            "write '%' as %25");
  EXPECT_EQ(split("h/a#b"), "invalid Toy URI: write '#' as %23 and a space as %20");
  EXPECT_EQ(endpoints(""), "missing host in the Toy URI; example: toy://127.0.0.1:7");
  EXPECT_EQ(endpoints("h:0"), "invalid port '0' in the Toy URI; expected 1 to 65535");
  EXPECT_EQ(endpoints("[::1"), "invalid host in the Toy URI: missing ']' after the IPv6 address");
  EXPECT_EQ(endpoints("[::1]8"),
            "invalid host in the Toy URI: expected ':' and a port after ']', not '8'");
  EXPECT_EQ(endpoints("::1"),
            "invalid host in the Toy URI: more than one ':'; enclose an IPv6 address in brackets, "
            "as in [::1]");
  EXPECT_EQ(message_of([] { static_cast<void>(syntax.decoded("a%00", "path")); }),
            "invalid path in the Toy URI: it contains a NUL byte");
  EXPECT_EQ(message_of([] { static_cast<void>(syntax.options("a=1&b")); }),
            "missing value of the option 'b' in the Toy URI");
  EXPECT_EQ(message_of([] { syntax.refuse_option("c", "a, b"); }),
            "unknown option 'c' in the Toy URI; expected one of a, b");
  EXPECT_EQ(message_of([] { syntax.refuse_value("a", "maybe", "yes or no"); }),
            "invalid value 'maybe' of the option 'a' in the Toy URI; expected yes or no");
}

// Each option spells a time as a policy file does.
TEST(UriSyntax, ReadsATimeWithinItsBounds) {
  const auto read = [](std::string_view value) {
    return syntax.duration({"poll", value}, 100ms, 1h, "a time from 100ms to 1h");
  };
  EXPECT_EQ(read("100ms"), 100ms);
  EXPECT_EQ(read("45s"), 45s);
  EXPECT_EQ(read("2m"), 2min);
  EXPECT_EQ(read("60min"), 1h);
  for (const char* wrong : {"99ms", "61m", "2h", "5", "s", "-3s", "3 s", ""}) {
    EXPECT_EQ(message_of([&] { static_cast<void>(read(wrong)); }),
              "invalid value '" + std::string(wrong) +
                  "' of the option 'poll' in the Toy URI; expected a time from 100ms to 1h");
  }
}

}  // namespace
}  // namespace latchkey::detail
