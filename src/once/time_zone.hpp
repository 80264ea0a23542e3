// The clocks of a time zone.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

namespace latchkey::inline v1::detail {

using SysSeconds = std::chrono::sys_seconds;
using LocalSeconds = std::chrono::local_seconds;

/// When the clocks show one local time.
struct LocalMoment {
  enum class Kind : unsigned char {
    once,
    gap,      ///< never: both members are the moment at which they skip it
    overlap,  ///< twice: first and second
  };
  Kind kind;
  SysSeconds first;
  SysSeconds second;
};

/// Thread-safe.
class TimeZone {
 public:
  TimeZone() = default;
  TimeZone(const TimeZone&) = delete;
  TimeZone& operator=(const TimeZone&) = delete;
  virtual ~TimeZone() = default;

  [[nodiscard]] virtual LocalSeconds to_local(SysSeconds time) const = 0;
  [[nodiscard]] virtual LocalMoment to_sys(LocalSeconds time) const = 0;
};

/// "UTC", an offset, or a name of the IANA database. Throws std::invalid_argument with a sentence.
[[nodiscard]] std::shared_ptr<const TimeZone> find_time_zone(std::string_view name);

}  // namespace latchkey::inline v1::detail
