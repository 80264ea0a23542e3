// Durations as policy files, URIs and the command line spell them.
// SPDX-License-Identifier: BSL-1.0
#include "core/text/duration.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <system_error>

#include "core/text/nearest.hpp"

namespace latchkey::inline v1::detail {
namespace {

using std::chrono::milliseconds;

struct Unit {
  std::string_view name;
  std::int64_t length;  // in ms
};

constexpr std::array units{
    Unit{"ms", 1},        Unit{"s", 1'000},
    Unit{"m", 60'000},    Unit{"min", 60'000},  // as in C++
    Unit{"h", 3'600'000}, Unit{"d", 86'400'000},
};
constexpr std::int64_t longest = 3'650 * units.back().length;

constexpr const char* forms = "; expected a whole number and ms, s, m, h or d, as in 250ms";

}  // namespace

Duration parse_duration(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (error == std::errc::invalid_argument) {
    return "invalid time " + quoted_word(text) + forms;
  }
  if (number < 0) return "negative time " + quoted_word(text) + forms;
  if (text == "0") return milliseconds(0);
  if (unit.empty())
    return "missing unit in " + quoted_word(text) + "; expected " + std::string(text) + "s";
  for (const Unit& known : units) {
    if (known.name != unit) continue;
    if (error == std::errc::result_out_of_range || number > longest / known.length) {
      return quoted_word(text) + " is too long; expected at most ten years";
    }
    return milliseconds(number * known.length);
  }
  return "unknown unit " + quoted_word(unit) + " in " + quoted_word(text) + forms;
}

}  // namespace latchkey::inline v1::detail
