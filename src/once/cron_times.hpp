// The instants of a cron expression on the clocks of a zone.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "once/cron_fields.hpp"
#include "once/time_zone.hpp"

namespace latchkey::inline v1::detail {

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
