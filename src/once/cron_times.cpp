// The instants of a cron expression on the clocks of a zone.
// SPDX-License-Identifier: BSL-1.0
#include "once/cron_times.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <latchkey/cron.hpp>

namespace latchkey::inline v1 {
namespace detail {
namespace {

constexpr std::array<std::string_view, 12> month_names{"jan", "feb", "mar", "apr", "may", "jun",
                                                       "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 7> weekday_names{"sun", "mon", "tue", "wed",
                                                        "thu", "fri", "sat"};
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> nicknames{{
    {"@hourly", "0 * * * *"},
    {"@daily", "0 0 * * *"},
    {"@midnight", "0 0 * * *"},
    {"@weekly", "0 0 * * 0"},
    {"@monthly", "0 0 1 * *"},
    {"@yearly", "0 0 1 1 *"},
    {"@annually", "0 0 1 1 *"},
}};

/// The values that one field may contain.
struct FieldKind {
  std::string_view name;
  int least;
  int most;
  std::span<const std::string_view> names{};  ///< names of the values from `least` on
};

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  return result;
}

[[noreturn]] void fail_field(const FieldKind& kind, std::string_view word) {
  std::string expected = std::to_string(kind.least) + " to " + std::to_string(kind.most);
  if (!kind.names.empty()) {
    expected += " or " + std::string(kind.names.front()) + " to " + std::string(kind.names.back());
  }
  throw std::invalid_argument("the " + std::string(kind.name) + " '" + std::string(word) +
                              "' of a cron expression: expected " + expected +
                              ", a range such as 1-5, a step such as */15, or a list of these");
}

std::optional<int> whole_number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

int parse_value(const FieldKind& kind, std::string_view word, std::string_view text) {
  const auto named = std::ranges::find(kind.names, lower(text));
  if (named != kind.names.end()) return kind.least + static_cast<int>(named - kind.names.begin());
  const std::optional<int> value = whole_number(text);
  if (!value || *value < kind.least || *value > kind.most) fail_field(kind, word);
  return *value;
}

/// One word of a list: `*`, `5`, `1-5`, and any of them with a step.
template <std::size_t size>
void add_values(const FieldKind& kind, std::string_view word, std::bitset<size>& values) {
  const std::size_t slash = word.find('/');
  const std::string_view range = word.substr(0, slash);
  int step = 1;
  if (slash != std::string_view::npos) {
    step = whole_number(word.substr(slash + 1)).value_or(0);
    if (step < 1 || step > kind.most) fail_field(kind, word);
  }
  int first = kind.least, last = kind.most;
  if (range != "*") {
    const std::size_t dash = range.find('-');
    first = parse_value(kind, word, range.substr(0, dash));
    const bool is_range = dash != std::string_view::npos;
    if (is_range) last = parse_value(kind, word, range.substr(dash + 1));
    if (!is_range && slash == std::string_view::npos) last = first;
    if (first > last) fail_field(kind, word);
  }
  for (int value = first; value <= last; value += step) {
    values.set(static_cast<std::size_t>(value) % size);  // 7 is Sunday, too
  }
}

template <std::size_t size>
std::bitset<size> parse_field(const FieldKind& kind, std::string_view text) {
  std::bitset<size> values;
  for (;;) {
    const std::size_t comma = text.find(',');
    add_values(kind, text.substr(0, comma), values);
    if (comma == std::string_view::npos) return values;
    text.remove_prefix(comma + 1);
  }
}

std::vector<std::string_view> fields_of(std::string_view expression) {
  constexpr std::string_view blanks = " \t";
  std::vector<std::string_view> fields;
  for (;;) {
    expression.remove_prefix(std::min(expression.find_first_not_of(blanks), expression.size()));
    if (expression.empty()) return fields;
    const std::size_t end = std::min(expression.find_first_of(blanks), expression.size());
    fields.push_back(expression.substr(0, end));
    expression.remove_prefix(end);
  }
}

using std::chrono::days;
using std::chrono::floor;
using std::chrono::local_days;

/// Every 29 February falls on every weekday within so many days.
constexpr days longest_search{41 * 366};

}  // namespace

bool CronFields::matches(std::chrono::local_days day) const {
  const std::chrono::year_month_day date(day);
  if (!months[static_cast<unsigned>(date.month())]) return false;
  const bool day_fits = days[static_cast<unsigned>(date.day())];
  const bool weekday_fits = weekdays[std::chrono::weekday(day).c_encoding()];
  return any_day || any_weekday ? day_fits && weekday_fits : day_fits || weekday_fits;
}

CronFields parse_cron(std::string_view expression) {
  const std::string name = lower(expression);
  for (const auto& [nickname, meaning] : nicknames) {
    if (name == nickname) return parse_cron(meaning);
  }
  const std::vector<std::string_view> texts = fields_of(expression);
  if (texts.size() != 5) {
    throw std::invalid_argument(
        "the cron expression '" + std::string(expression) + "' has " +
        std::to_string(texts.size()) +
        " fields; expected minute, hour, day of the month, month and day of the week, such as "
        "'30 2 * * *', or @daily");
  }
  CronFields fields;
  fields.minutes = parse_field<60>({"minute", 0, 59}, texts[0]);
  fields.hours = parse_field<24>({"hour", 0, 23}, texts[1]);
  fields.days = parse_field<32>({"day of the month", 1, 31}, texts[2]);
  fields.months = parse_field<13>({"month", 1, 12, month_names}, texts[3]);
  fields.weekdays = parse_field<7>({"day of the week", 0, 7, weekday_names}, texts[4]);
  fields.any_hour = texts[1].starts_with('*');
  fields.any_day = texts[2].starts_with('*');
  fields.any_weekday = texts[4].starts_with('*');
  return fields;
}

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
