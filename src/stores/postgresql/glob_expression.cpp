// Writes a glob as a regular expression of PostgreSQL.
// SPDX-License-Identifier: BSL-1.0
#include "stores/postgresql/glob_expression.hpp"

#include <cstddef>

namespace latchkey::inline v1::detail::postgresql {
namespace {

void append_literally(std::string& expression, char one) {
  const auto code = static_cast<unsigned char>(one);
  const bool plain = code >= 0x80 || (one >= '0' && one <= '9') || (one >= 'a' && one <= 'z') ||
                     (one >= 'A' && one <= 'Z') || one == '_';
  if (!plain) expression += '\\';
  expression += one;
}

/// Appends the set that begins after `[`, and returns where it ends.
std::size_t append_set(std::string& expression, std::string_view glob, std::size_t at) {
  expression += '[';
  if (at < glob.size() && glob[at] == '^') {
    expression += '^';
    ++at;
  }
  const std::size_t before = expression.size();
  for (; at < glob.size() && glob[at] != ']'; ++at) {
    if (glob[at] == '\\' && at + 1 < glob.size()) ++at;
    if (glob[at] == '-') {
      expression += '-';
    } else {
      append_literally(expression, glob[at]);
    }
  }
  if (expression.size() == before) expression += "\\x01";  // no key matches an empty set
  expression += ']';
  return at;
}

}  // namespace

std::string glob_expression(std::string_view glob) {
  std::string expression = "^";
  for (std::size_t at = 0; at < glob.size(); ++at) {
    if (glob[at] == '*') {
      expression += ".*";
    } else if (glob[at] == '?') {
      expression += '.';
    } else if (glob[at] == '[') {
      at = append_set(expression, glob, at + 1);
    } else {
      if (glob[at] == '\\' && at + 1 < glob.size()) ++at;
      append_literally(expression, glob[at]);
    }
  }
  return expression += '$';
}

}  // namespace latchkey::inline v1::detail::postgresql
