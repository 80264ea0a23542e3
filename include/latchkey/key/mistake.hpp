// Mistakes in a key's own text, as the compiler shows them and as run time says them.
#pragma once

#include <string>
#include <string_view>

#include <latchkey/fixed_string.hpp>
#include <latchkey/key/node.hpp>

namespace latchkey {

/// None of these is defined: a wrong template calls one while it is compiled, and the compiler's
/// "call to non-constexpr function" shows its name, the wrong word and the template.
namespace key_template_error {

template <FixedString Template>
void the_key_is_empty();
template <FixedString Template>
void the_template_is_longer_than_4096_bytes();
template <FixedString Word, FixedString Template>
void placeholder_is_never_closed();
template <FixedString Word, FixedString Template>
void placeholder_is_empty();
template <FixedString Word, FixedString Template>
void closing_brace_without_an_opening_one_write_it_twice_for_text();
template <FixedString Word, FixedString Template>
void brace_inside_an_expression();
template <FixedString Word, FixedString Template>
void quoted_text_is_never_closed();
template <FixedString Word, FixedString Template>
void value_is_an_empty_text();
template <FixedString Word, FixedString Template>
void expected_an_argument_a_text_or_a_function_before();
template <FixedString Word, FixedString Template>
void the_expression_should_have_ended_before();
template <FixedString Word, FixedString Template>
void parenthesis_is_never_closed();
template <FixedString Word, FixedString Template>
void bracket_is_never_closed();
template <FixedString Word, FixedString Template>
void member_name_expected_behind_the_dot();
template <FixedString Word, FixedString Template>
void an_index_is_a_number_a_quoted_text_or_a_star();
template <FixedString Word, FixedString Template>
void an_index_cannot_hold_a_quote();
template <FixedString Word, FixedString Template>
void number_is_too_large();
template <FixedString Word, FixedString Template>
void a_number_must_follow_the_percent_sign();
template <FixedString Word, FixedString Template>
void modulus_is_zero();
template <FixedString Word, FixedString Template>
void the_percent_sign_needs_an_integer_before_it();
template <FixedString Word, FixedString Template, FixedString... Right>
void no_such_function();
template <FixedString Word, FixedString Template>
void size_takes_a_path();
template <FixedString Word, FixedString Template>
void more_than_one_star();
template <FixedString Word, FixedString Template>
void nothing_separates_this_value_from_the_one_before();
template <FixedString Word, FixedString Template>
void nested_too_deeply();

}  // namespace key_template_error

namespace detail {

template <FixedString T, Mistake M, FixedString Word>
consteval bool syntax_is_right() {
  namespace error = key_template_error;
  using enum Mistake;
  // clang-format off
  if constexpr (M == KEY_IS_EMPTY) error::the_key_is_empty<T>();
  if constexpr (M == TEMPLATE_IS_TOO_LONG) error::the_template_is_longer_than_4096_bytes<T>();
  if constexpr (M == PLACEHOLDER_IS_NEVER_CLOSED) error::placeholder_is_never_closed<Word, T>();
  if constexpr (M == PLACEHOLDER_IS_EMPTY) error::placeholder_is_empty<Word, T>();
  if constexpr (M == CLOSING_BRACE_WITHOUT_AN_OPENING_ONE)
    error::closing_brace_without_an_opening_one_write_it_twice_for_text<Word, T>();
  if constexpr (M == BRACE_INSIDE_AN_EXPRESSION) error::brace_inside_an_expression<Word, T>();
  if constexpr (M == TEXT_IS_NEVER_CLOSED) error::quoted_text_is_never_closed<Word, T>();
  if constexpr (M == VALUE_IS_EMPTY_TEXT) error::value_is_an_empty_text<Word, T>();
  if constexpr (M == VALUE_EXPECTED)
    error::expected_an_argument_a_text_or_a_function_before<Word, T>();
  if constexpr (M == END_OF_EXPRESSION_EXPECTED)
    error::the_expression_should_have_ended_before<Word, T>();
  if constexpr (M == PARENTHESIS_IS_NEVER_CLOSED) error::parenthesis_is_never_closed<Word, T>();
  if constexpr (M == BRACKET_IS_NEVER_CLOSED) error::bracket_is_never_closed<Word, T>();
  if constexpr (M == MEMBER_NAME_EXPECTED) error::member_name_expected_behind_the_dot<Word, T>();
  if constexpr (M == INDEX_EXPECTED)
    error::an_index_is_a_number_a_quoted_text_or_a_star<Word, T>();
  if constexpr (M == QUOTE_INSIDE_AN_INDEX) error::an_index_cannot_hold_a_quote<Word, T>();
  if constexpr (M == NUMBER_IS_TOO_LARGE) error::number_is_too_large<Word, T>();
  if constexpr (M == MODULUS_EXPECTED) error::a_number_must_follow_the_percent_sign<Word, T>();
  if constexpr (M == MODULUS_IS_ZERO) error::modulus_is_zero<Word, T>();
  if constexpr (M == MODULUS_OF_TEXT)
    error::the_percent_sign_needs_an_integer_before_it<Word, T>();
  if constexpr (M == FUNCTION_UNKNOWN)
    error::no_such_function<Word, T, "lower", "upper", "hash", "size", "raw">();
  if constexpr (M == SIZE_TAKES_A_PATH) error::size_takes_a_path<Word, T>();
  if constexpr (M == MORE_THAN_ONE_STAR) error::more_than_one_star<Word, T>();
  if constexpr (M == VALUES_WITH_NO_SEPARATOR_BETWEEN)
    error::nothing_separates_this_value_from_the_one_before<Word, T>();
  if constexpr (M == NESTED_TOO_DEEPLY) error::nested_too_deeply<Word, T>();
  // clang-format on
  return true;
}

/// The run-time twin: names the template, the word, its position and what would be right.
std::string sentence_of(const Parse& parse, std::string_view key_template);

}  // namespace detail
}  // namespace latchkey
