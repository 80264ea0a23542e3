// Checks single lines of YAML for common pitfalls.
// SPDX-License-Identifier: BSL-1.0
#include "policy/yaml_lines.hpp"

#include <cstddef>

#include "core/text/nearest.hpp"

namespace latchkey::inline v1::detail {
namespace {

constexpr std::size_t none = std::string_view::npos;

bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (is_blank(text.back()) || text.back() == '\r')) text.remove_suffix(1);
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  return text;
}

/// The position after the quote that closes the first one; none if it is never closed.
std::size_t behind_quote(std::string_view text) {
  const char quote = text.front();
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (quote == '"' && text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      if (quote == '\'' && i + 1 < text.size() && text[i + 1] == quote) {
        ++i;
      } else {
        return i + 1;
      }
    }
  }
  return none;
}

/// The position of the colon that ends the first word of a line.
std::size_t find_colon(std::string_view text, std::size_t from) {
  std::size_t i = from;
  if (i < text.size() && (text[i] == '"' || text[i] == '\'')) {
    const std::size_t close = behind_quote(text.substr(i));
    if (close == none) return none;
    i += close;
  }
  for (; i < text.size(); ++i) {
    if (text[i] == '#' && i > from && is_blank(text[i - 1])) return none;
    if (text[i] == ':' && (i + 1 == text.size() || is_blank(text[i + 1]) || text[i + 1] == '\r')) {
      return i;
    }
  }
  return none;
}

/// ", " and the value in quotes, unless it may be a secret.
std::string in_yaml_quotes(std::string_view value, bool quotable) {
  if (!quotable) return {};
  const char quote = value.find('"') == none ? '"' : '\'';
  return std::string(", ") + quote + std::string(value) + quote;
}

/// The error text for a value, without its comment, that is not YAML; empty if it may be YAML.
std::string mistake_in_value(std::string_view value, bool quotable) {
  const char first = value.front();
  if (first == '"' || first == '\'') {
    const std::size_t close = behind_quote(value);
    if (close == none) return "the quote before this value is never closed on its line";
    const std::string_view rest = trimmed(value.substr(close));
    if (rest.empty() || rest.front() == '#') return {};
    const std::string where = quotable ? ", before " + quoted_word(rest) : std::string();
    return "YAML ends this value at its second quote" + where +
           ": quote the whole, as in \"'user:' + #user.id\"";
  }
  if (std::string_view("*&!|>%@`").find(first) != none) {
    return std::string("a value that begins with ") + first + " must be quoted: \"" + first +
           "...\"";
  }
  const std::size_t comment = value.find(" #");
  const std::string_view plain = trimmed(value.substr(0, comment));
  if (first == '{' || first == '[') {
    const std::size_t close = value.find(first == '{' ? '}' : ']');
    if (close == none || close + 1 == plain.size()) return {};
    return std::string("YAML reads what begins with ") + first + " as a " +
           (first == '{' ? "map" : "list") + ": quote it" + in_yaml_quotes(plain, quotable);
  }
  if (plain.ends_with(':') || plain.find(": ") != none) {
    return "a colon before a blank begins a map in YAML: quote the value" +
           in_yaml_quotes(plain, quotable);
  }
  return {};
}

}  // namespace

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (true) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == none) return lines;
    text.remove_prefix(end + 1);
  }
}

YamlLine split_line(std::string_view text) {
  YamlLine line{text};
  while (line.key < text.size() && is_blank(text[line.key])) ++line.key;
  while (text.substr(line.key).starts_with("- ")) line.key += 2;
  const std::size_t colon = find_colon(text, line.key);
  if (colon == none) return line;
  std::size_t value = colon + 1;
  while (value < text.size() && is_blank(text[value])) ++value;
  if (value < text.size() && text[value] != '#' && text[value] != '\r') line.value = value;
  return line;
}

bool begins_section(std::string_view text) {
  return !text.empty() && !is_blank(text.front()) && text.front() != '#';
}

bool begins_section_without_uris(std::string_view text) {
  for (const std::string_view section : {"defaults:", "policies:", "rules:"}) {
    if (text.starts_with(section)) return true;
  }
  return false;
}

std::optional<Problem> mistake_in_line(std::string_view text, int number, bool quotable) {
  const YamlLine line = split_line(text);
  const auto at = [&](std::size_t offset) { return Place{number, static_cast<int>(offset) + 1}; };
  if (line.key < text.size() && text[line.key] == '#') return std::nullopt;
  const std::size_t tab = text.substr(0, line.key).find('\t');
  if (tab != none) return Problem{at(tab), "YAML is indented by spaces, never by tabs"};
  if (line.key < text.size() && std::string_view("*&!%@`").find(text[line.key]) != none) {
    return Problem{at(line.key), std::string("a name that begins with ") + text[line.key] +
                                     " must be quoted: \"" + text[line.key] + "...\""};
  }
  if (!line.value) return std::nullopt;
  const std::string sentence = mistake_in_value(trimmed(text.substr(*line.value)), quotable);
  if (sentence.empty()) return std::nullopt;
  return Problem{at(*line.value), sentence};
}

bool leaves_quote_open(std::string_view text) {
  const YamlLine line = split_line(text);
  if (!line.value || text[line.key] == '#') return false;
  const std::string_view value = text.substr(*line.value);
  return (value.front() == '"' || value.front() == '\'') && behind_quote(value) == none;
}

bool has_comment_behind(std::string_view line, std::size_t begin) {
  for (std::size_t i = line.find('#', begin); i != none; i = line.find('#', i + 1)) {
    // A comment that is meant as one begins with a blank; a # of a key expression does not.
    const bool begins = i == 0 || is_blank(line[i - 1]);
    if (begins && i + 1 < line.size() && !is_blank(line[i + 1]) && line[i + 1] != '#') return true;
  }
  return false;
}

}  // namespace latchkey::inline v1::detail
