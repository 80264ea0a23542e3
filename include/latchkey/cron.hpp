// Cron expressions in a time zone: the instants of a scheduled job.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

namespace detail {
class CronTimes;
}  // namespace detail

/// The instants of a cron expression on the clocks of a time zone.
///
///     const latchkey::Cron nightly("30 2 * * *", "Europe/Berlin");  // each night at 02:30
///     const latchkey::Cron quarters("*/15 9-17 * * mon-fri");       // UTC
///
/// The five fields are those of cron(8): minute, hour, day of the month, month, day of the week
/// (0 and 7 are Sunday; jan-dec, sun-sat). A field is `*`, a number, a range `1-5`, one of them
/// with a step `*/15`, `10-50/20`, or a list of these with commas. If both days are restricted, a
/// day that meets one of them counts. `@hourly`, `@daily`, `@midnight`, `@weekly`, `@monthly`,
/// `@yearly` and `@annually` stand for what cron(8) says.
///
/// Where a clock is set forward or back:
///
/// | the hours field  | times that a day skips (gap)    | times that a day has twice (overlap) |
/// |------------------|---------------------------------|--------------------------------------|
/// | names hours: `2` | one instant, the end of the gap | one instant, the first of the two    |
/// | begins with `*`  | none: the interval goes on      | both: the interval goes on           |
///
/// So a daily job runs once on every day, and a job of every 15 minutes runs every 15 minutes.
///
/// A zone is "UTC", an offset such as "+01:00" or "-0330", or a name of the IANA database such as
/// "Europe/Berlin". Names need the time zones of `<chrono>`, which GCC has since version 14, and
/// the database of the system (the package tzdata). All processes of a job need the same rules: a
/// machine with an older database can name other instants.
///
/// Immutable and thread-safe; copies are cheap.
class Cron {
 public:
  using Instant = std::chrono::system_clock::time_point;

  /// Throws std::invalid_argument with a sentence for an expression or a zone that does not exist,
  /// for one that has no instant at all, and for a named zone that this build cannot have.
  explicit Cron(std::string_view expression, std::string_view zone = "UTC");

  /// The last instant that is not after `time`.
  [[nodiscard]] Instant last(Instant time) const;
  /// The first instant after `time`.
  [[nodiscard]] Instant next(Instant time) const;

  /// The expression and the zone, as they were given: "30 2 * * * Europe/Berlin".
  [[nodiscard]] const std::string& text() const noexcept;

 private:
  std::shared_ptr<const detail::CronTimes> times_;
};

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
