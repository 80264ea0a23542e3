// What the URIs of all stores have in common.
#include "backend/uri/uri_syntax.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>

namespace latchkey::detail {
namespace {

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
            "in a Toy URI '@' stands once, behind user and password: within them '@' is %40, '/' "
            "is %2F, '?' is %3F, '#' is %23");
  EXPECT_EQ(split("me:s%4@h"),
            "the password of the Toy URI has a '%' without two hexadecimal digits behind it: a "
            "percent sign itself is %25");
  EXPECT_EQ(split("h/a#b"), "a Toy URI has neither a '#' nor a space in it: they are %23 and %20");
  EXPECT_EQ(endpoints(""), "a Toy URI names a host: toy://127.0.0.1:7");
  EXPECT_EQ(endpoints("h:0"), "the port of a Toy URI is a number from 1 to 65535, not '0'");
  EXPECT_EQ(endpoints("[::1"), "the '[' of an IPv6 address lacks its ']'");
  EXPECT_EQ(endpoints("::1"),
            "a Toy URI has one port for each host; an IPv6 address stands in brackets, as [::1]");
  EXPECT_EQ(message_of([] { static_cast<void>(syntax.decoded("a%00", "path")); }),
            "the path of the Toy URI has a NUL in it");
  EXPECT_EQ(message_of([] { static_cast<void>(syntax.options("a=1&b")); }),
            "the option 'b' of the Toy URI has no value");
}

}  // namespace
}  // namespace latchkey::detail
