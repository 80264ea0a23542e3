// When this process has last seen each Lease change.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <unordered_map>

#include <latchkey/clock.hpp>

#include "stores/kubernetes/lease.hpp"

namespace latchkey::inline v1::detail::kubernetes {

/// How a Lease stands for one candidate.
///
/// | standing | when                                                        | the candidate      |
/// |----------|-------------------------------------------------------------|--------------------|
/// | free     | no Lease, or it names no holder                             | may take it        |
/// | mine     | it names the candidate, and has changed within its duration | holds it           |
/// | ended    | it has not changed for its duration; it may name anybody    | may take it        |
/// | busy     | it names somebody else, and has changed within its duration | waits              |
enum class Standing : std::uint8_t { free, mine, ended, busy };

/// The rule by which client-go's elector decides, and so every program that shares a Lease: a
/// duration counts from the moment at which this process has first seen the record as it is, by its
/// own monotonic clock. The times inside of a Lease are those of another machine's clock, and
/// decide nothing. Pure; one thread at a time.
class ObservedLeases {
 public:
  using TimePoint = Clock::time_point;

  /// A reply of the API server has this version. `now`: when that was read, or later.
  void see(const LeaseObject& lease, TimePoint now);
  /// The watch tells of this version. One that was written before the version that was seen last is
  /// ignored: a watch lags behind replies.
  void hear(const LeaseObject& lease, TimePoint now);
  /// The Lease is deleted.
  void forget(const std::string& name) { seen_.erase(name); }

  /// How the record that was seen last stands for the candidate `id`.
  [[nodiscard]] Standing standing(const std::string& name, std::string_view id,
                                  TimePoint now) const;
  /// The rest of the duration; zero: it has passed, or none was seen.
  [[nodiscard]] Clock::duration left(const std::string& name, TimePoint now) const;

 private:
  struct Seen {
    std::string version;
    LeaseRecord record;
    TimePoint at;
  };
  [[nodiscard]] static TimePoint end_of(const Seen& seen) noexcept {
    return later(seen.at, std::chrono::seconds(seen.record.seconds));
  }

  std::unordered_map<std::string, Seen> seen_;
};

/// Whether the version `one` was written before `other`, or is it. The API server counts its
/// versions; if these are no numbers, false, unless they are equal.
[[nodiscard]] bool is_not_after(const std::string& one, const std::string& other) noexcept;

}  // namespace latchkey::inline v1::detail::kubernetes
