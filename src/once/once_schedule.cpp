// The instants of a OncePer, and their names.
// SPDX-License-Identifier: BSL-1.0
#include "once/once_schedule.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace latchkey::inline v1::detail {

OnceSchedule::Wall OnceSchedule::instant_at(Wall now) const {
  if (cron) return cron->last(now);
  const auto since = now.time_since_epoch() - offset;
  auto number = since / period;
  if (since % period < since.zero()) --number;
  return Wall(offset + period * number);
}

bool OnceSchedule::is_in_time(Wall instant, Wall now) const {
  if (now < instant || now >= instant + start_within) return false;
  return !cron || now < cron->next(instant);
}

std::chrono::milliseconds OnceSchedule::mark() const noexcept { return period + 2 * clock_error; }

std::chrono::milliseconds OnceSchedule::mark(Wall instant) const {
  if (!cron) return mark();
  const auto until_next = std::chrono::ceil<std::chrono::milliseconds>(after(instant) - instant);
  return std::min(until_next, start_within) + 2 * clock_error;
}

std::string instant_text(OnceSchedule::Wall instant) {
  using namespace std::chrono;
  const auto whole = floor<milliseconds>(instant);
  const auto day = floor<days>(whole);
  const year_month_day date(day);
  const hh_mm_ss time(whole - day);
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02lld:%02lld:%02lld",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<long long>(time.hours().count()),
                static_cast<long long>(time.minutes().count()),
                static_cast<long long>(time.seconds().count()));
  std::string result(text.data());
  if (const auto rest = time.subseconds().count(); rest != 0) {
    std::snprintf(text.data(), text.size(), ".%03lld", static_cast<long long>(rest));
    result += text.data();
  }
  return result + "Z";
}

std::string once_key(std::string_view key, OnceSchedule::Wall instant) {
  return "latchkey_once:" + std::string(key) + ":" + instant_text(instant);
}

}  // namespace latchkey::inline v1::detail
