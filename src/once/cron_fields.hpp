// A cron expression as sets of numbers.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <bitset>
#include <chrono>
#include <string_view>

namespace latchkey::inline v1::detail {

/// The five fields of a cron expression.
struct CronFields {
  std::bitset<60> minutes{};
  std::bitset<24> hours{};
  std::bitset<32> days{};     ///< days of the month, from 1
  std::bitset<13> months{};   ///< from 1
  std::bitset<7> weekdays{};  ///< from Sunday
  bool any_day = false;       ///< the field begins with `*`
  bool any_weekday = false;
  bool any_hour = false;

  [[nodiscard]] bool matches(std::chrono::local_days day) const;
};

/// Throws std::invalid_argument with a sentence that has the wrong word.
[[nodiscard]] CronFields parse_cron(std::string_view expression);

}  // namespace latchkey::inline v1::detail
