// Converts arguments of the command line to values.
// SPDX-License-Identifier: BSL-1.0
#include "cli/parse.hpp"

#include <range/v3/range/conversion.hpp>
#include <range/v3/view/join.hpp>
#include <range/v3/view/map.hpp>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <stdexcept>
#include <variant>

#include "cli/connection.hpp"
#include "core/text/duration.hpp"
#include "policy/settings.hpp"

namespace latchkey::inline v1::cli {

std::chrono::milliseconds parse_duration(const std::string& option, const std::string& text) {
  const detail::Duration parsed = detail::parse_duration(text);
  if (const auto* const length = std::get_if<std::chrono::milliseconds>(&parsed)) return *length;
  throw UsageError(option + ": " + std::get<std::string>(parsed));
}

Wait parse_wait(const std::string& text) {
  if (text == detail::endless_wait) return forever;
  return parse_duration("--wait", text);
}

Lease parse_lease(const std::string& text) {
  if (text == detail::endless_lease) return watchdog;
  try {
    return parse_duration("--lease", text);
  } catch (const UsageError&) {
    throw;
  } catch (const std::invalid_argument& error) {
    throw UsageError("--lease '" + text + "': " + error.what());
  }
}

LockType parse_type(const std::string& text) {
  std::string upper = text;
  std::ranges::transform(upper, upper.begin(), [](unsigned char letter) {
    return static_cast<char>(std::toupper(letter));
  });
  for (const auto& [name, type] : detail::type_names) {
    if (upper == name) return type;
  }
  throw UsageError("--type '" + text + "': unknown lock type; expected one of " +
                   (detail::type_names | ranges::views::keys |
                    ranges::views::join(std::string_view(", ")) | ranges::to<std::string>()));
}

std::vector<std::string> parse_keys(const std::vector<std::string>& arguments) {
  std::vector<std::string> keys;
  for (const std::string& argument : arguments) {
    const std::size_t before = keys.size();
    keys.emplace_back();
    for (std::size_t at = 0; at < argument.size(); ++at) {
      if (argument.compare(at, 2, "\\,") == 0) {
        keys.back() += argument[++at];
      } else if (argument[at] == ',') {
        keys.emplace_back();
      } else {
        keys.back() += argument[at];
      }
    }
    if (std::find(keys.begin() + static_cast<std::ptrdiff_t>(before), keys.end(), "") !=
        keys.end()) {
      throw UsageError("--key '" + argument +
                       "': an empty key; expected names with commas between");
    }
  }
  return keys;
}

std::string joined_keys(const std::vector<std::string>& keys) {
  std::string text;
  for (const std::string& key : keys) {
    if (!text.empty()) text += ',';
    for (const char letter : key) {
      if (letter == ',') text += '\\';
      text += letter;
    }
  }
  return text;
}

}  // namespace latchkey::inline v1::cli
