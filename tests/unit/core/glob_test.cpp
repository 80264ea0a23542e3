// Glob patterns.
#include "core/text/glob.hpp"

#include <gtest/gtest.h>

#include <string>

namespace latchkey::detail {
namespace {

TEST(Glob, MatchesAsRedisDoes) {
  struct Case {
    const char* pattern;
    const char* text;
    bool matches;
  };
  constexpr Case cases[] = {
      {"", "", true},         {"", "a", false},         {"*", "", true},
      {"*", "abc", true},     {"a*c", "abbc", true},    {"a*c", "abcd", false},
      {"*b*", "abc", true},   {"a?c", "abc", true},     {"a?c", "ac", false},
      {"[abc]x", "bx", true}, {"[^abc]x", "bx", false}, {"[^abc]x", "dx", true},
      {"[a-c]", "b", true},   {"[c-a]", "b", true},     {"[a-c]", "d", false},
      {"\\*", "*", true},     {"\\*", "a", false},      {"[\\]]", "]", true},
      {"a**b", "ab", true},   {"*a*a*a", "aaa", true},  {"*a*a*a", "aa", false},
      {"abc", "abc", true},   {"abc", "abcd", false},   {"user:*:lock", "user:1:lock", true},
      {"[a", "a", true},      {"k\\", "k\\", true},
  };
  for (const Case& each : cases) {
    EXPECT_EQ(glob_matches(each.pattern, each.text), each.matches)
        << each.pattern << " on " << each.text;
  }
}

TEST(Glob, ManyStarsStayCheap) {
  std::string pattern;
  for (int star = 0; star < 50; ++star) pattern += "*a";
  EXPECT_FALSE(glob_matches(pattern + "b", std::string(1'000, 'a')));
}

}  // namespace
}  // namespace latchkey::detail
