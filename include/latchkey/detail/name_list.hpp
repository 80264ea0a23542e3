// The argument names of a decorated call, as the text that #__VA_ARGS__ gives.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <string_view>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

inline constexpr std::size_t not_found = static_cast<std::size_t>(-1);

/// Iterates over the elements of a comma-separated list. A comma within parentheses, brackets,
/// braces or quotes separates nothing. A blank list has no elements.
///
///     for (NameList list("account, amount"); list.next();) use(list.name());
class NameList {
 public:
  constexpr explicit NameList(std::string_view text)
      : at_(text.data()), end_(text.data() + text.size()) {
    skip_blanks();
    more_ = at_ != end_;
  }

  /// Moves to the next element; false after the last one.
  constexpr bool next() {
    if (!more_) return false;
    skip_blanks();
    const char* const begin = at_;
    skip_identifier();
    const char* end = at_;
    skip_blanks();
    is_identifier_ = end != begin && !(*begin >= '0' && *begin <= '9');
    if (at_ != end_ && *at_ != ',') {
      is_identifier_ = false;
      end = skip_expression(end);
    }
    name_ = {begin, static_cast<std::size_t>(end - begin)};
    more_ = at_ != end_;
    if (more_) ++at_;
    return true;
  }

  /// The current element without the blanks around it; empty if there is nothing between two
  /// commas.
  [[nodiscard]] constexpr std::string_view name() const { return name_; }
  [[nodiscard]] constexpr bool is_identifier() const { return is_identifier_; }

 private:
  constexpr void skip_blanks() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\t')) ++at_;
  }

  // Every byte of a UTF-8 sequence counts as a letter. This loop calls no function because the
  // compiler runs it for every letter of every argument list.
  constexpr void skip_identifier() {
    for (; at_ != end_; ++at_) {
      const char byte = *at_;
      if (byte >= 'a' && byte <= 'z') continue;
      if ((byte >= 'A' && byte <= 'Z') || byte == '_' || (byte >= '0' && byte <= '9')) continue;
      if (static_cast<unsigned char>(byte) < 0x80) return;
    }
  }

  /// Moves to the separator. Gives the end of the expression, which has at least reached `end`.
  constexpr const char* skip_expression(const char* end) {
    for (int depth = 0; at_ != end_ && (depth != 0 || *at_ != ','); ++at_) {
      const char byte = *at_;
      if (byte == '(' || byte == '[' || byte == '{') ++depth;
      if (byte == ')' || byte == ']' || byte == '}') --depth;
      if (byte == '"' || byte == '\'') skip_quoted();
      if (byte != ' ' && byte != '\t') end = at_ + 1;
    }
    return end;
  }

  /// Moves to the closing quote, or to the last byte if there is none.
  constexpr void skip_quoted() {
    for (const char quote = *at_; at_ + 1 != end_;) {
      ++at_;
      if (*at_ == quote) return;
      if (*at_ == '\\' && at_ + 1 != end_) ++at_;
    }
  }

  const char* at_;
  const char* end_;
  bool more_ = false;
  bool is_identifier_ = false;
  std::string_view name_{};
};

constexpr std::size_t name_count(std::string_view names) {
  std::size_t count = 0;
  for (NameList list(names); list.next();) ++count;
  return count;
}

/// `index` < name_count(names).
constexpr std::string_view name_at(std::string_view names, std::size_t index) {
  NameList list(names);
  for (list.next(); index > 0; --index) list.next();
  return list.name();
}

/// The index of `name` if the list has `count` elements and contains it, or not_found.
constexpr std::size_t name_position(std::string_view names, std::string_view name,
                                    std::size_t count) {
  std::size_t index = 0;
  std::size_t found = not_found;
  for (NameList list(names); list.next(); ++index) {
    if (found == not_found && list.name() == name) found = index;
  }
  return index == count ? found : not_found;
}

/// True for "" and for identifiers separated by commas.
constexpr bool are_names(std::string_view text) {
  for (NameList list(text); list.next();) {
    if (!list.is_identifier()) return false;
  }
  return true;
}

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop
