// The instants of a cron expression on the clocks of a zone.
// SPDX-License-Identifier: BSL-1.0
#include "once/cron_times.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <latchkey/cron.hpp>

namespace latchkey::inline v1 {
namespace detail {
namespace {

using std::chrono::days;
using std::chrono::floor;
using std::chrono::local_days;

/// Every 29 February falls on every weekday within so many days.
constexpr days longest_search{41 * 366};

}  // namespace

CronTimes::CronTimes(std::string text, const CronFields& fields,
                     std::shared_ptr<const TimeZone> zone)
    : text_(std::move(text)), fields_(fields), zone_(std::move(zone)) {
  const local_days begin(std::chrono::year(2000) / 1 / 1);
  local_days day = begin;
  while (day < begin + longest_search && !fields_.matches(day)) day += days(1);
  if (day < begin + longest_search) return;
  throw std::invalid_argument("the cron expression '" + text_ +
                              "' has no instant: no month has such a day");
}

SysSeconds CronTimes::next(SysSeconds time) const {
  // A day begins earlier or later than the one of UTC; a gap may move an instant to the next day.
  const local_days today = floor<days>(zone_->to_local(time));
  for (local_days day = today - days(1);; day += days(1)) {
    const std::vector<SysSeconds> instants = instants_of(day);
    const auto found = std::ranges::upper_bound(instants, time);
    if (found != instants.end()) return *found;
  }
}

SysSeconds CronTimes::last(SysSeconds time) const {
  const local_days today = floor<days>(zone_->to_local(time));
  for (local_days day = today + days(1);; day -= days(1)) {
    const std::vector<SysSeconds> instants = instants_of(day);
    const auto after = std::ranges::upper_bound(instants, time);
    if (after != instants.begin()) return *std::prev(after);
  }
}

std::vector<SysSeconds> CronTimes::instants_of(local_days day) const {
  std::vector<SysSeconds> instants;
  if (!fields_.matches(day)) return instants;
  for (std::size_t hour = 0; hour < fields_.hours.size(); ++hour) {
    if (!fields_.hours[hour]) continue;
    for (std::size_t minute = 0; minute < fields_.minutes.size(); ++minute) {
      if (!fields_.minutes[minute]) continue;
      add_instants(LocalSeconds(day) + std::chrono::hours(hour) + std::chrono::minutes(minute),
                   instants);
    }
  }
  std::ranges::sort(instants);
  const auto same = std::ranges::unique(instants);
  instants.erase(same.begin(), same.end());
  return instants;
}

void CronTimes::add_instants(LocalSeconds time, std::vector<SysSeconds>& instants) const {
  const LocalMoment moment = zone_->to_sys(time);
  switch (moment.kind) {
    case LocalMoment::Kind::once: instants.push_back(moment.first); break;
    case LocalMoment::Kind::gap:
      if (!fields_.any_hour) instants.push_back(moment.first);
      break;
    case LocalMoment::Kind::overlap:
      instants.push_back(moment.first);
      if (fields_.any_hour) instants.push_back(moment.second);
      break;
  }
}

}  // namespace detail

Cron::Cron(std::string_view expression, std::string_view zone)
    : times_(std::make_shared<const detail::CronTimes>(
          std::string(expression) + ' ' + std::string(zone), detail::parse_cron(expression),
          detail::find_time_zone(zone))) {}

Cron::Instant Cron::last(Instant time) const {
  return times_->last(std::chrono::floor<std::chrono::seconds>(time));
}

Cron::Instant Cron::next(Instant time) const {
  return times_->next(std::chrono::floor<std::chrono::seconds>(time));
}

const std::string& Cron::text() const noexcept { return times_->text(); }

}  // namespace latchkey::inline v1
