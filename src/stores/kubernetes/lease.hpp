// A Lease of Kubernetes, as the API server writes it.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::inline v1::detail::kubernetes {

/// The times of a Lease, which people read, and which decide nothing.
using WallTime = std::chrono::sys_time<std::chrono::microseconds>;

/// A number of a Lease is an int32.
inline constexpr std::int64_t largest_number = std::numeric_limits<std::int32_t>::max();

/// The fields of a Lease that an election changes: client-go's LeaderElectionRecord. Each renewal
/// changes one of them.
struct LeaseRecord {
  std::string holder;        ///< holderIdentity; empty: nobody
  std::int64_t seconds = 0;  ///< leaseDurationSeconds
  std::int64_t transitions = 0;
  std::string acquired, renewed;  ///< as they stand there

  friend bool operator==(const LeaseRecord&, const LeaseRecord&) = default;
};

/// One version of one Lease.
struct LeaseObject {
  std::string name;
  std::string version;  ///< resourceVersion
  LeaseRecord record;
  std::string object;  ///< the JSON that an update changes: other fields of it stay
};

/// The Lease in a reply; empty: it is none, and `why` says so, as a clause.
[[nodiscard]] std::optional<LeaseObject> read_lease(std::string_view json, std::string& why);

/// A Lease that does not exist yet.
[[nodiscard]] std::string new_lease(const std::string& name, const std::string& name_space,
                                    const LeaseRecord& record);
/// The Lease with another record, to take the place of this version alone.
[[nodiscard]] std::string changed_lease(const LeaseObject& lease, const LeaseRecord& record);

/// `2026-11-30T13:08:39.123456Z`
[[nodiscard]] std::string text_of(WallTime time);
/// Empty: the text is no time, or not in UTC, as every time of the API server is.
[[nodiscard]] std::optional<WallTime> wall_time_of(std::string_view text);

/// One event of a watch.
struct WatchEvent {
  enum class Kind : std::uint8_t {
    changed,  ///< added or modified
    deleted,
    other,   ///< such as a bookmark
    failed,  ///< the watch ends: `reason`
  };
  Kind kind = Kind::other;
  LeaseObject lease{};
  std::string reason{};
};
/// One line of a watch; empty: it is none, and `why` says so.
[[nodiscard]] std::optional<WatchEvent> read_event(std::string_view json, std::string& why);

/// One part of a list of Leases.
struct LeaseList {
  std::vector<LeaseObject> leases;
  std::string next;  ///< the token of the next part; empty: it was the last one
};
[[nodiscard]] std::optional<LeaseList> read_list(std::string_view json, std::string& why);

/// Why the API server rejects a request: its Status.
struct ApiStatus {
  std::string reason;   ///< such as AlreadyExists; empty: it is no Status
  std::string message;  ///< for people
  std::string kind;     ///< of the object that the reason is about, such as namespaces
};
[[nodiscard]] ApiStatus read_status(std::string_view json);

}  // namespace latchkey::inline v1::detail::kubernetes
