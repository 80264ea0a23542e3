// Parses the names that GCC and clang give to lambdas, and rewrites their spellings of types.
// SPDX-License-Identifier: BSL-1.0
#include "aspect/spelling.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>

namespace latchkey::inline v1::detail {
namespace {

constexpr std::size_t none = std::string_view::npos;

/// Returns the position after the bracket that closes the one at `open`. Brackets of all kinds
/// nest. Brackets in a character literal, as in NT<'('>, do not count.
std::size_t after_bracket(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\'' && i + 2 < text.size()) {
      const std::size_t close = text.find('\'', i + (text[i + 1] == '\\' ? 3 : 2));
      if (close != none) i = close;
    } else if (c == '-' && i + 1 < text.size() && text[i + 1] == '>') {
      ++i;
    } else if (c == '<' || c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == '>' || c == ')' || c == ']' || c == '}') {
      if (--depth == 0) return i + 1;
    }
  }
  return text.size();
}

bool in_identifier(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) != 0 || byte == '_' || byte >= 0x80;
}

bool starts_with_word(std::string_view text, std::string_view word) {
  return text.starts_with(word) &&
         (text.size() == word.size() || !in_identifier(text[word.size()]));
}

/// Returns the length of an operator's name, which ends before its parameters.
std::size_t operator_end(std::string_view text) {
  constexpr std::string_view word = "operator";
  if (text.substr(word.size()).starts_with("()")) return word.size() + 2;
  return std::min(text.find('('), text.size());
}

/// One part of a qualified name.
struct Part {
  std::string_view name;     ///< without template arguments and parameters
  bool is_function = false;  ///< it has parameters
  std::size_t next = 0;      ///< the position of the next part
};

Part next_part(std::string_view text) {
  Part part;
  std::size_t i = 0;
  std::size_t end = none;
  if (starts_with_word(text, "operator")) i = end = operator_end(text);
  while (i < text.size() && !text.substr(i).starts_with("::")) {
    const char c = text[i];
    const bool bracket = c == '<' || c == '(' || c == '[' || c == '{';
    // The first bracket or blank ends the name; the rest up to the colons qualifies it.
    if (end == none && (bracket || c == ' ')) end = i;
    if (c == '(' && end != 0) part.is_function = true;
    i = bracket ? after_bracket(text, i) : i + 1;
  }
  part.name = text.substr(0, std::min(end, i));
  part.next = std::min(i + 2, text.size());
  return part;
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != none; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

}  // namespace

std::string method_name(std::string_view function) {
  if (starts_with_word(function, "auto")) function.remove_prefix(5);
  std::string name;
  bool in_function = false;
  bool after_lambda = false;
  while (!function.empty()) {
    const bool clang_lambda =
        function.starts_with("(anonymous class)") || function.starts_with("(lambda)");
    const Part part = next_part(function);
    // clang: "f(int)::(anonymous class)::operator()() const", since 22 "f(int)::(lambda)::…"; GCC:
    // "f(int)::<lambda()>".
    const bool lambdas_own = after_lambda && part.name == "operator()";
    if (!part.name.empty() && !lambdas_own) {
      if (!name.empty()) name += "::";
      name += part.name;
      in_function = in_function || part.is_function;
    }
    after_lambda = clang_lambda;
    function.remove_prefix(part.next);
  }
  return in_function ? name : std::string();
}

std::string type_text(std::string_view spelling) {
  static constexpr std::array<std::array<std::string_view, 2>, 14> agreed{{
      {"std::__cxx11::", "std::"},
      {"std::__1::", "std::"},
      {"{anonymous}", "(anonymous namespace)"},
      {" &", "&"},
      {" *", "*"},
      {" >", ">"},
      {"std::basic_string_view<char, std::char_traits<char>>", "std::string_view"},
      {"std::basic_string_view<char>", "std::string_view"},
      {"std::basic_string<char>", "std::string"},
      {"long long unsigned int", "unsigned long long"},
      {"long unsigned int", "unsigned long"},
      {"short unsigned int", "unsigned short"},
      {"long int", "long"},
      {"short int", "short"},
  }};
  std::string text(spelling);
  for (const auto& [theirs, ours] : agreed) replace_all(text, theirs, ours);
  return text;
}

}  // namespace latchkey::inline v1::detail
