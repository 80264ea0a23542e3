// The argument names of a decorated call, out of the text that #__VA_ARGS__ gives.
#pragma once

#include <cstddef>
#include <string_view>

namespace latchkey::detail {

inline constexpr std::size_t not_found = static_cast<std::size_t>(-1);

constexpr std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// Where the name that begins `text` ends: at a comma outside parentheses, brackets and quotes.
constexpr std::size_t name_end(std::string_view text) {
  int depth = 0;
  char quote = '\0';
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char byte = text[at];
    if (quote != '\0') {
      if (byte == '\\') {
        ++at;
      } else if (byte == quote) {
        quote = '\0';
      }
    } else if (byte == '"' || byte == '\'') {
      quote = byte;
    } else if (byte == '(' || byte == '[' || byte == '{') {
      ++depth;
    } else if (byte == ')' || byte == ']' || byte == '}') {
      --depth;
    } else if (byte == ',' && depth == 0) {
      return at;
    }
  }
  return text.size();
}

constexpr std::size_t name_count(std::string_view names) {
  if (trimmed(names).empty()) return 0;
  std::size_t count = 1;
  while (true) {
    const std::size_t end = name_end(names);
    if (end == names.size()) return count;
    names.remove_prefix(end + 1);
    ++count;
  }
}

/// `index` < name_count(names).
constexpr std::string_view name_at(std::string_view names, std::size_t index) {
  for (; index > 0; --index) names.remove_prefix(name_end(names) + 1);
  return trimmed(names.substr(0, name_end(names)));
}

/// The index of `name`, or not_found.
constexpr std::size_t name_index(std::string_view names, std::string_view name) {
  const std::size_t count = name_count(names);
  for (std::size_t index = 0; index < count; ++index) {
    if (name_at(names, index) == name) return index;
  }
  return not_found;
}

}  // namespace latchkey::detail
