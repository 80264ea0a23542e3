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

static_assert(mistake("account:{account.id}") == none);
static_assert(mistake("{0}:{1.a[3]['x'][*]}") == none);
static_assert(mistake("'user:' + #userVO.id") == none);
static_assert(mistake("#userVO.id") == none);
static_assert(mistake("#0") == none);
static_assert(mistake("{hash(a + ':' + b) % 64}") == none);
static_assert(mistake("{(a ?: b) % 7}") == none);
static_assert(mistake("{a % 7 % 3}") == none);
static_assert(mistake("{'it''s'}") == none);
static_assert(mistake("{'' + a}") == none);
static_assert(mistake("{{x}}") == none);
static_assert(mistake("{ a . b [ 0 ] ?: 'x' }") == none);
static_assert(mistake("{lower.id}") == none, "a function's name without ( is an argument");
static_assert(mistake("{id % 18446744073709551615}") == none);

static_assert(mistake("") == key_is_empty);
static_assert(mistake("{account.id") == placeholder_is_never_closed);
static_assert(mistake("{") == placeholder_is_never_closed);
static_assert(mistake("{ ") == placeholder_is_never_closed);
static_assert(mistake("{ }") == placeholder_is_empty);
static_assert(mistake("a}") == closing_brace_without_an_opening_one);
static_assert(mistake("{{x}") == closing_brace_without_an_opening_one);
static_assert(mistake("{a{b}}") == brace_inside_an_expression);
static_assert(mistake("{{{b}}}") == none);
static_assert(mistake("{+{b}}") == value_expected);
static_assert(mistake("{a + {b}}") == brace_inside_an_expression);
static_assert(mistake("{'{'}") == brace_inside_an_expression);
static_assert(mistake("#a}") == brace_inside_an_expression);
static_assert(mistake("'abc") == text_is_never_closed);
static_assert(mistake("'abc''") == text_is_never_closed);
static_assert(mistake("''") == value_is_empty_text);
static_assert(mistake("{a ?: ''}") == value_is_empty_text);
static_assert(mistake("{a + }") == value_expected);
static_assert(mistake("{a ?: }") == value_expected);
static_assert(mistake("{##a}") == value_expected);
static_assert(mistake("{#lower(a)}") == end_of_expression_expected);
static_assert(mistake("{a b}") == end_of_expression_expected);
static_assert(mistake("{a ?: b ?: c}") == end_of_expression_expected);
static_assert(mistake("#a b") == end_of_expression_expected);
static_assert(mistake("{lower(a b)}") == end_of_expression_expected);
static_assert(mistake("{(a}") == parenthesis_is_never_closed);
static_assert(mistake("#lower") == none);
static_assert(mistake("'x' + lower(a") == parenthesis_is_never_closed);
static_assert(mistake("{a[1}") == bracket_is_never_closed);
static_assert(mistake("{a[") == bracket_is_never_closed);
static_assert(mistake("{a..b}") == member_name_expected);
static_assert(mistake("{a.}") == member_name_expected);
static_assert(mistake("{a.0}") == member_name_expected);
static_assert(mistake("{a[-1]}") == index_expected);
static_assert(mistake("{a[]}") == index_expected);
static_assert(mistake("{a[b]}") == index_expected);
static_assert(mistake("{a['it''s']}") == quote_inside_an_index);
static_assert(mistake("{a['x]}") == brace_inside_an_expression);
static_assert(mistake("#a['x]") == text_is_never_closed);
static_assert(mistake("{id % 18446744073709551616}") == number_is_too_large);
static_assert(mistake("{99999999999999999999}") == number_is_too_large);
static_assert(mistake("{a[99999999999999999999]}") == number_is_too_large);
static_assert(mistake("{id % n}") == modulus_expected);
static_assert(mistake("{id % -3}") == modulus_expected);
static_assert(mistake("{id % 0}") == modulus_is_zero);
static_assert(mistake("{lower(a) % 7}") == modulus_of_text);
static_assert(mistake("{'7' % 7}") == modulus_of_text);
static_assert(mistake("{(a ?: 'x') % 7}") == modulus_of_text);
static_assert(mistake("{loewr(a)}") == function_unknown);
static_assert(mistake("{size(hash(a))}") == size_takes_a_path);
static_assert(mistake("{a[*]}:{b[*]}") == more_than_one_star);
static_assert(mistake("{a[*][*]}") == more_than_one_star);

static_assert(mistake("{a}{b}") == values_with_no_separator_between);
static_assert(mistake("{a}-{b}") == values_with_no_separator_between);
static_assert(mistake("{a}%{b}") == values_with_no_separator_between, "see is_separator");
static_assert(mistake("{hash(a + b) % 64}") == values_with_no_separator_between);
static_assert(mistake("{a}{b ?: ':'}") == values_with_no_separator_between);
static_assert(mistake("{lower(a)}{b}") == values_with_no_separator_between);
static_assert(mistake("{a}x{b % 3}") == values_with_no_separator_between);
static_assert(mistake("{a}-{{-{b}") == none);
static_assert(mistake("{a} {b}") == none);
static_assert(mistake("{a}x:y{b}") == none);
static_assert(mistake("{a + ':' + b}") == none);
static_assert(mistake("{a}{':' + b}") == none);
static_assert(mistake("{raw(a)}{b}") == none);
static_assert(mistake("{lower(a + ':')}{b}") == none);

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
  EXPECT_EQ(at_run_time(nested(31)), none);
  EXPECT_EQ(at_run_time(nested(32)), nested_too_deeply);
  EXPECT_EQ(at_run_time(std::string(max_template_size, 'x')), none);
  EXPECT_EQ(at_run_time(std::string(max_template_size + 1, 'x')), template_is_too_long);
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
