// Checks single lines of YAML for common pitfalls of keys and URIs.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/policy_file.hpp"

namespace latchkey::inline v1::detail {

/// One line as `indent key: value`, as far as it has that shape. Offsets are in bytes.
struct YamlLine {
  std::string_view text;
  std::size_t key = 0;                 ///< the offset of the first word
  std::optional<std::size_t> value{};  ///< the offset of the value, if there is one
};

[[nodiscard]] YamlLine split_line(std::string_view text);

/// The line begins a section of the file: it is not indented.
[[nodiscard]] bool begins_section(std::string_view text);
/// The section is one in which no URI stands, so that its values are no secrets.
[[nodiscard]] bool begins_section_without_uris(std::string_view text);

/// The mistake of a line that no YAML parser accepts, if there is one. Its sentence shows a part of
/// the value only if the value is `quotable`: it may be a URI with a password.
[[nodiscard]] std::optional<Problem> mistake_in_line(std::string_view text, int number,
                                                     bool quotable);

/// The value begins with a quote that its line does not close: for YAML it ends at the next quote,
/// which may be that of another value.
[[nodiscard]] bool leaves_quote_open(std::string_view text);

/// True if a # made YAML read a value as nothing, or cut it.
[[nodiscard]] bool has_comment_behind(std::string_view line, std::size_t begin);

[[nodiscard]] std::vector<std::string_view> split_lines(std::string_view text);

}  // namespace latchkey::inline v1::detail
