// The sentences for syntax errors in a key, for run time and for the compiler's messages about
// annotations.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <latchkey/detail/in_quotes.hpp>
#include <latchkey/detail/key/about.hpp>
#include <latchkey/detail/key/node.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

/// The error of the wrong word and the correction. The caller puts the word before it.
constexpr std::string_view what_is_wrong(SyntaxError mistake) {
  switch (mistake) {
    case SyntaxError::placeholder_is_never_closed:
      return "is never closed: '}' is missing; write '{{' for a brace that is text";
    case SyntaxError::placeholder_is_empty:
      return "names nothing: write an argument in it, as in {account.id} or {0}";
    case SyntaxError::closing_brace_without_an_opening_one:
      return "closes nothing: write '}}' for a brace that is text";
    case SyntaxError::brace_inside_an_expression:
      return "cannot stand inside an expression or a quoted text: braces are written '{{' and '}}' "
             "in the template's own text";
    case SyntaxError::text_is_never_closed:
      return "is never closed: a quote is missing; write '' for a quote inside a text";
    case SyntaxError::value_is_empty_text: return "gives an empty text, which makes no key";
    case SyntaxError::end_of_expression_expected:
      return "is unexpected; expected the end of the expression, '+', '%' or '?:'";
    case SyntaxError::parenthesis_is_never_closed: return "is never closed: ')' is missing";
    case SyntaxError::bracket_is_never_closed: return "is never closed: ']' is missing";
    case SyntaxError::quote_inside_an_index: return "holds a quote, which an index cannot";
    case SyntaxError::number_is_too_large:
      return "is too large: numbers end at 18446744073709551615";
    case SyntaxError::modulus_is_zero: return "cannot follow '%': it must be at least 1";
    case SyntaxError::modulus_of_text:
      return "needs an integer before it: a path, hash(...), size(...) or another '%'";
    case SyntaxError::function_unknown:
      return "is an unknown function; expected one of lower, upper, hash, size, raw";
    case SyntaxError::size_takes_a_path: return "takes a path, as in size(account.entries)";
    case SyntaxError::more_than_one_star: return "is the second [*]; expected at most one";
    case SyntaxError::values_with_no_separator_between:
      return "could run into the value before it: put one of : / , | # or a space between them, or "
             "raw(...) around one";
    case SyntaxError::nested_too_deeply:
      return "is nested too deeply: parentheses nest at most 31 deep";
    default: return {};
  }
}

/// The errors of a missing part. What is in its place may be the end of the text.
constexpr std::string_view what_is_missing(SyntaxError mistake) {
  switch (mistake) {
    case SyntaxError::value_expected:
      return "expected an argument's name, a position, a 'text', a function or '('";
    case SyntaxError::member_name_expected: return "expected a member's name after '.'";
    case SyntaxError::index_expected: return "expected a number, a 'text' or * between '[' and ']'";
    case SyntaxError::modulus_expected: return "expected a number after '%'";
    default: return {};
  }
}

/// One sentence about the first error of a key: the template, the column, the word and the cure.
constexpr std::string syntax_sentence(const Parse& parse, std::string_view key_template) {
  if (parse.mistake == SyntaxError::key_is_empty) return "a key must not be empty";
  if (parse.mistake == SyntaxError::template_is_too_long) {
    return about_key(key_template.substr(0, 64)) + "the template begun so is longer than " +
           decimal_text(max_template_size) + " bytes";
  }
  const std::string_view word = key_template.substr(parse.at, parse.length);
  std::string sentence = about_key(key_template, parse.at);
  if (const std::string_view missing = what_is_missing(parse.mistake); !missing.empty()) {
    sentence += missing;
    sentence += ", found ";
    return sentence += word.empty() ? "the end" : in_quotes(word);
  }
  sentence += in_quotes(word);
  sentence += ' ';
  return sentence += what_is_wrong(parse.mistake);
}

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop
