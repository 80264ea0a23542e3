// The grammar, as the parser sees it. A line that compiles has passed.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <latchkey/detail/key/parser.hpp>

namespace latchkey::detail {
namespace {

using enum SyntaxError;

constexpr Parse parse(std::string_view text) {
  Node nodes[node_capacity(128)] = {};
  return Parser(text, nodes).run();
}

constexpr SyntaxError mistake(std::string_view text) { return parse(text).mistake; }

static_assert(mistake("account:{account.id}") == NONE);
static_assert(mistake("{0}:{1.a[3]['x'][*]}") == NONE);
static_assert(mistake("'user:' + #userVO.id") == NONE);
static_assert(mistake("#userVO.id") == NONE);
static_assert(mistake("#0") == NONE);
static_assert(mistake("{hash(a + ':' + b) % 64}") == NONE);
static_assert(mistake("{(a ?: b) % 7}") == NONE);
static_assert(mistake("{a % 7 % 3}") == NONE);
static_assert(mistake("{'it''s'}") == NONE);
static_assert(mistake("{'' + a}") == NONE);
static_assert(mistake("{{x}}") == NONE);
static_assert(mistake("{ a . b [ 0 ] ?: 'x' }") == NONE);
static_assert(mistake("{lower.id}") == NONE, "a function's name without ( is an argument");
static_assert(mistake("{id % 18446744073709551615}") == NONE);

static_assert(mistake("") == KEY_IS_EMPTY);
static_assert(mistake("{account.id") == PLACEHOLDER_IS_NEVER_CLOSED);
static_assert(mistake("{") == PLACEHOLDER_IS_NEVER_CLOSED);
static_assert(mistake("{ ") == PLACEHOLDER_IS_NEVER_CLOSED);
static_assert(mistake("{ }") == PLACEHOLDER_IS_EMPTY);
static_assert(mistake("a}") == CLOSING_BRACE_WITHOUT_AN_OPENING_ONE);
static_assert(mistake("{{x}") == CLOSING_BRACE_WITHOUT_AN_OPENING_ONE);
static_assert(mistake("{a{b}}") == BRACE_INSIDE_AN_EXPRESSION);
static_assert(mistake("{{{b}}}") == NONE);
static_assert(mistake("{+{b}}") == VALUE_EXPECTED);
static_assert(mistake("{a + {b}}") == BRACE_INSIDE_AN_EXPRESSION);
static_assert(mistake("{'{'}") == BRACE_INSIDE_AN_EXPRESSION);
static_assert(mistake("#a}") == BRACE_INSIDE_AN_EXPRESSION);
static_assert(mistake("'abc") == TEXT_IS_NEVER_CLOSED);
static_assert(mistake("'abc''") == TEXT_IS_NEVER_CLOSED);
static_assert(mistake("''") == VALUE_IS_EMPTY_TEXT);
static_assert(mistake("{a ?: ''}") == VALUE_IS_EMPTY_TEXT);
static_assert(mistake("{a + }") == VALUE_EXPECTED);
static_assert(mistake("{a ?: }") == VALUE_EXPECTED);
static_assert(mistake("{##a}") == VALUE_EXPECTED);
static_assert(mistake("{#lower(a)}") == END_OF_EXPRESSION_EXPECTED);
static_assert(mistake("{a b}") == END_OF_EXPRESSION_EXPECTED);
static_assert(mistake("{a ?: b ?: c}") == END_OF_EXPRESSION_EXPECTED);
static_assert(mistake("#a b") == END_OF_EXPRESSION_EXPECTED);
static_assert(mistake("{lower(a b)}") == END_OF_EXPRESSION_EXPECTED);
static_assert(mistake("{(a}") == PARENTHESIS_IS_NEVER_CLOSED);
static_assert(mistake("#lower") == NONE);
static_assert(mistake("'x' + lower(a") == PARENTHESIS_IS_NEVER_CLOSED);
static_assert(mistake("{a[1}") == BRACKET_IS_NEVER_CLOSED);
static_assert(mistake("{a[") == BRACKET_IS_NEVER_CLOSED);
static_assert(mistake("{a..b}") == MEMBER_NAME_EXPECTED);
static_assert(mistake("{a.}") == MEMBER_NAME_EXPECTED);
static_assert(mistake("{a.0}") == MEMBER_NAME_EXPECTED);
static_assert(mistake("{a[-1]}") == INDEX_EXPECTED);
static_assert(mistake("{a[]}") == INDEX_EXPECTED);
static_assert(mistake("{a[b]}") == INDEX_EXPECTED);
static_assert(mistake("{a['it''s']}") == QUOTE_INSIDE_AN_INDEX);
static_assert(mistake("{a['x]}") == BRACE_INSIDE_AN_EXPRESSION);
static_assert(mistake("#a['x]") == TEXT_IS_NEVER_CLOSED);
static_assert(mistake("{id % 18446744073709551616}") == NUMBER_IS_TOO_LARGE);
static_assert(mistake("{99999999999999999999}") == NUMBER_IS_TOO_LARGE);
static_assert(mistake("{a[99999999999999999999]}") == NUMBER_IS_TOO_LARGE);
static_assert(mistake("{id % n}") == MODULUS_EXPECTED);
static_assert(mistake("{id % -3}") == MODULUS_EXPECTED);
static_assert(mistake("{id % 0}") == MODULUS_IS_ZERO);
static_assert(mistake("{lower(a) % 7}") == MODULUS_OF_TEXT);
static_assert(mistake("{'7' % 7}") == MODULUS_OF_TEXT);
static_assert(mistake("{(a ?: 'x') % 7}") == MODULUS_OF_TEXT);
static_assert(mistake("{loewr(a)}") == FUNCTION_UNKNOWN);
static_assert(mistake("{size(hash(a))}") == SIZE_TAKES_A_PATH);
static_assert(mistake("{a[*]}:{b[*]}") == MORE_THAN_ONE_STAR);
static_assert(mistake("{a[*][*]}") == MORE_THAN_ONE_STAR);

static_assert(mistake("{a}{b}") == VALUES_WITH_NO_SEPARATOR_BETWEEN);
static_assert(mistake("{a}-{b}") == VALUES_WITH_NO_SEPARATOR_BETWEEN);
static_assert(mistake("{a}%{b}") == VALUES_WITH_NO_SEPARATOR_BETWEEN, "see is_separator");
static_assert(mistake("{hash(a + b) % 64}") == VALUES_WITH_NO_SEPARATOR_BETWEEN);
static_assert(mistake("{a}{b ?: ':'}") == VALUES_WITH_NO_SEPARATOR_BETWEEN);
static_assert(mistake("{lower(a)}{b}") == VALUES_WITH_NO_SEPARATOR_BETWEEN);
static_assert(mistake("{a}x{b % 3}") == VALUES_WITH_NO_SEPARATOR_BETWEEN);
static_assert(mistake("{a}-{{-{b}") == NONE);
static_assert(mistake("{a} {b}") == NONE);
static_assert(mistake("{a}x:y{b}") == NONE);
static_assert(mistake("{a + ':' + b}") == NONE);
static_assert(mistake("{a}{':' + b}") == NONE);
static_assert(mistake("{raw(a)}{b}") == NONE);
static_assert(mistake("{lower(a + ':')}{b}") == NONE);

static_assert(parse("{a[*].b}").star != 0);
static_assert(parse("{a[0].b}").star == 0);
static_assert(parse("k:{a}{amount}").at == 6, "the word that touches the one before");
static_assert(parse("{loewr(a)}").at == 1 && parse("{loewr(a)}").length == 5);

SyntaxError at_run_time(const std::string& text) {
  std::vector<Node> nodes(node_capacity(text.size()));
  return Parser(text, nodes.data()).run().mistake;
}

TEST(KeyParser, LimitsDepthAndLength) {
  const auto nested = [](std::size_t depth) {
    return "{" + std::string(depth, '(') + "a" + std::string(depth, ')') + "}";
  };
  EXPECT_EQ(at_run_time(nested(31)), NONE);
  EXPECT_EQ(at_run_time(nested(32)), NESTED_TOO_DEEPLY);
  EXPECT_EQ(at_run_time(std::string(max_template_size, 'x')), NONE);
  EXPECT_EQ(at_run_time(std::string(max_template_size + 1, 'x')), TEMPLATE_IS_TOO_LONG);
}

TEST(KeyParser, NeverUsesMoreNodesThanItReserved) {
  // The densest there is: two bytes for two nodes, none for the root.
  for (const char* text : {"''+a", "''''''''''''''+a", "{a}", "a", "{{{{{{", "a?:b", "#a+'''a'"}) {
    const std::string key = text;
    at_run_time(key);  // AddressSanitizer is the judge
  }
}

}  // namespace
}  // namespace latchkey::detail
