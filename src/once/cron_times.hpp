// The instants of a cron expression.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <bitset>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "once/time_zone.hpp"

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

/// Immutable and thread-safe. Knows no clock: it is asked about times.
class CronTimes {
 public:
  /// Throws std::invalid_argument for fields that no day has.
  CronTimes(std::string text, const CronFields& fields, std::shared_ptr<const TimeZone> zone);

  /// The last instant that is not after `time`, and the first one after it.
  [[nodiscard]] SysSeconds last(SysSeconds time) const;
  [[nodiscard]] SysSeconds next(SysSeconds time) const;
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  /// The instants of one local day, in their order.
  [[nodiscard]] std::vector<SysSeconds> instants_of(std::chrono::local_days day) const;
  void add_instants(LocalSeconds time, std::vector<SysSeconds>& instants) const;

  const std::string text_;
  const CronFields fields_;
  const std::shared_ptr<const TimeZone> zone_;
};

}  // namespace latchkey::inline v1::detail
