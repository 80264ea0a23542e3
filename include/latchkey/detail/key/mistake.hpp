// Syntax errors of keys, for the compiler's messages and for run time.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <string_view>

#include <latchkey/detail/key/node.hpp>
#include <latchkey/fixed_string.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

/// None of these has members: an invalid template requests a type from one of them, and both
/// compilers show its name, the wrong word and the template in the line of the error.
namespace key_template_error {

template <FixedString Template>
struct the_key_is_empty {};
template <FixedString Template>
struct the_template_is_longer_than_4096_bytes {};
template <FixedString Word, FixedString Template>
struct placeholder_is_never_closed {};
template <FixedString Word, FixedString Template>
struct placeholder_is_empty {};
template <FixedString Word, FixedString Template>
struct closing_brace_without_an_opening_one_write_it_twice_for_text {};
template <FixedString Word, FixedString Template>
struct brace_inside_an_expression {};
template <FixedString Word, FixedString Template>
struct quoted_text_is_never_closed {};
template <FixedString Word, FixedString Template>
struct value_is_an_empty_text {};
template <FixedString Word, FixedString Template>
struct expected_an_argument_a_text_or_a_function_before {};
template <FixedString Word, FixedString Template>
struct the_expression_should_have_ended_before {};
template <FixedString Word, FixedString Template>
struct parenthesis_is_never_closed {};
template <FixedString Word, FixedString Template>
struct bracket_is_never_closed {};
template <FixedString Word, FixedString Template>
struct member_name_expected_behind_the_dot {};
template <FixedString Word, FixedString Template>
struct an_index_is_a_number_a_quoted_text_or_a_star {};
template <FixedString Word, FixedString Template>
struct an_index_cannot_hold_a_quote {};
template <FixedString Word, FixedString Template>
struct number_is_too_large {};
template <FixedString Word, FixedString Template>
struct a_number_must_follow_the_percent_sign {};
template <FixedString Word, FixedString Template>
struct modulus_is_zero {};
template <FixedString Word, FixedString Template>
struct the_percent_sign_needs_an_integer_before_it {};
template <FixedString Word, FixedString Template, FixedString... Right>
struct no_such_function {};
template <FixedString Word, FixedString Template>
struct size_takes_a_path {};
template <FixedString Word, FixedString Template>
struct more_than_one_star {};
template <FixedString Word, FixedString Template>
struct nothing_separates_this_value_from_the_one_before {};
template <FixedString Word, FixedString Template>
struct nested_too_deeply {};

}  // namespace key_template_error

namespace detail {

/// The template is a valid key.
struct RightSyntax {
  using is_a_key = void;
};

template <FixedString T, SyntaxError M, FixedString Word>
consteval auto syntax_of() {
  namespace error = key_template_error;
  using enum SyntaxError;
  // clang-format off
  if constexpr (M == key_is_empty) return error::the_key_is_empty<T>{};
  if constexpr (M == template_is_too_long)
    return error::the_template_is_longer_than_4096_bytes<T>{};
  if constexpr (M == placeholder_is_never_closed)
    return error::placeholder_is_never_closed<Word, T>{};
  if constexpr (M == placeholder_is_empty) return error::placeholder_is_empty<Word, T>{};
  if constexpr (M == closing_brace_without_an_opening_one)
    return error::closing_brace_without_an_opening_one_write_it_twice_for_text<Word, T>{};
  if constexpr (M == brace_inside_an_expression)
    return error::brace_inside_an_expression<Word, T>{};
  if constexpr (M == text_is_never_closed) return error::quoted_text_is_never_closed<Word, T>{};
  if constexpr (M == value_is_empty_text) return error::value_is_an_empty_text<Word, T>{};
  if constexpr (M == value_expected)
    return error::expected_an_argument_a_text_or_a_function_before<Word, T>{};
  if constexpr (M == end_of_expression_expected)
    return error::the_expression_should_have_ended_before<Word, T>{};
  if constexpr (M == parenthesis_is_never_closed)
    return error::parenthesis_is_never_closed<Word, T>{};
  if constexpr (M == bracket_is_never_closed) return error::bracket_is_never_closed<Word, T>{};
  if constexpr (M == member_name_expected)
    return error::member_name_expected_behind_the_dot<Word, T>{};
  if constexpr (M == index_expected)
    return error::an_index_is_a_number_a_quoted_text_or_a_star<Word, T>{};
  if constexpr (M == quote_inside_an_index) return error::an_index_cannot_hold_a_quote<Word, T>{};
  if constexpr (M == number_is_too_large) return error::number_is_too_large<Word, T>{};
  if constexpr (M == modulus_expected)
    return error::a_number_must_follow_the_percent_sign<Word, T>{};
  if constexpr (M == modulus_is_zero) return error::modulus_is_zero<Word, T>{};
  if constexpr (M == modulus_of_text)
    return error::the_percent_sign_needs_an_integer_before_it<Word, T>{};
  if constexpr (M == function_unknown)
    return error::no_such_function<Word, T, "lower", "upper", "hash", "size", "raw">{};
  if constexpr (M == size_takes_a_path) return error::size_takes_a_path<Word, T>{};
  if constexpr (M == more_than_one_star) return error::more_than_one_star<Word, T>{};
  if constexpr (M == values_with_no_separator_between)
    return error::nothing_separates_this_value_from_the_one_before<Word, T>{};
  if constexpr (M == nested_too_deeply) return error::nested_too_deeply<Word, T>{};
  // clang-format on
}

/// The run-time error message: the template, the word, its position and the correction.
std::string sentence_of(const Parse& parse, std::string_view key_template);

}  // namespace detail
}  // namespace latchkey::inline v1
#pragma GCC visibility pop
