// A time of day as text.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <chrono>
#include <cstdio>
#include <string>

namespace latchkey::inline v1::detail {

/// "2026-11-25T12:15:00Z", with ".250" before the Z unless it is a whole second.
[[nodiscard]] inline std::string utc_text(std::chrono::system_clock::time_point time) {
  using namespace std::chrono;
  const auto whole = floor<milliseconds>(time);
  const auto day = floor<days>(whole);
  const year_month_day date(day);
  const hh_mm_ss of_day(whole - day);
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02lld:%02lld:%02lld",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<long long>(of_day.hours().count()),
                static_cast<long long>(of_day.minutes().count()),
                static_cast<long long>(of_day.seconds().count()));
  std::string result(text.data());
  if (const auto rest = of_day.subseconds().count(); rest != 0) {
    std::snprintf(text.data(), text.size(), ".%03lld", static_cast<long long>(rest));
    result += text.data();
  }
  return result + "Z";
}

}  // namespace latchkey::inline v1::detail
