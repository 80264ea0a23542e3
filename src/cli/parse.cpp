// Converts arguments of the command line to values.
// SPDX-License-Identifier: BSL-1.0
#include "cli/parse.hpp"

#include <range/v3/range/conversion.hpp>
#include <range/v3/view/join.hpp>
#include <range/v3/view/map.hpp>

#include <algorithm>
#include <cctype>
#include <stdexcept>
#include <variant>

#include "cli/connection.hpp"
#include "policy/duration.hpp"
#include "policy/settings.hpp"

namespace latchkey::inline v1::cli {

std::chrono::milliseconds parse_duration(const std::string& option, const std::string& text) {
  const detail::Duration parsed = detail::parse_duration(text);
  if (const auto* const length = std::get_if<std::chrono::milliseconds>(&parsed)) return *length;
  throw UsageError(option + " '" + text +
                   "': expected a number and a unit, such as 250ms, 3s or 5m");
}

Wait parse_wait(const std::string& text) {
  if (text == detail::endless_wait) return forever;
  if (text == "0") return std::chrono::milliseconds(0);
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
    for (std::size_t from = 0;;) {
      const std::size_t comma = argument.find(',', from);
      keys.push_back(argument.substr(from, comma - from));
      if (keys.back().empty()) {
        throw UsageError("--key '" + argument +
                         "': an empty key; expected names with commas between");
      }
      if (comma == std::string::npos) break;
      from = comma + 1;
    }
  }
  return keys;
}

}  // namespace latchkey::inline v1::cli
