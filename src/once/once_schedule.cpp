// The instants of a OncePer, and their names.
// SPDX-License-Identifier: BSL-1.0
#include "once/once_schedule.hpp"

#include <algorithm>

#include "core/text/utc_text.hpp"

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

OnceSchedule::Wall OnceSchedule::too_late_at(Wall instant) const {
  const Wall end = instant + start_within;
  return cron ? std::min(end, cron->next(instant)) : end;
}

std::chrono::milliseconds OnceSchedule::wait_at_most(std::chrono::milliseconds wait, Wall instant,
                                                     Wall now) const {
  using std::chrono::milliseconds;
  const auto left = std::chrono::ceil<milliseconds>(too_late_at(instant) - now);
  return std::clamp(left, milliseconds(0), wait);
}

std::chrono::milliseconds OnceSchedule::mark() const noexcept { return period + 2 * clock_error; }

std::chrono::milliseconds OnceSchedule::mark(Wall instant) const {
  if (!cron) return mark();
  const auto until_next = std::chrono::ceil<std::chrono::milliseconds>(after(instant) - instant);
  return std::min(until_next, start_within) + 2 * clock_error;
}

std::string instant_text(OnceSchedule::Wall instant) { return utc_text(instant); }

std::string once_key(std::string_view key, OnceSchedule::Wall instant) {
  return "latchkey_once:" + std::string(key) + ":" + instant_text(instant);
}

}  // namespace latchkey::inline v1::detail
