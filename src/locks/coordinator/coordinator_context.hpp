// The state that the coordinators of one shard share.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <latchkey/backend.hpp>
#include <latchkey/clock.hpp>
#include <latchkey/hold_id.hpp>

#include "locks/coordinator/reuse_times.hpp"

namespace latchkey::inline v1::detail {

class LockSpace;

/// Options::cache_size allows no shard more idle holds.
inline constexpr std::uint8_t most_idle_of_shard = 16;

/// The settings of a Locks that its coordinators need.
struct CoordinatorSettings {
  std::chrono::milliseconds watchdog = std::chrono::seconds(30);
  std::chrono::milliseconds min_lease{10};         ///< Capabilities::min_lease
  std::chrono::milliseconds lease_granularity{1};  ///< Capabilities::lease_granularity
  std::chrono::milliseconds command_timeout = std::chrono::seconds(2);
  std::chrono::milliseconds unavailable_after = std::chrono::seconds(10);
  /// For how long the calls of this process may hand one hold on. 0: never.
  std::chrono::milliseconds cohort{5};
  /// For how long a hold that nobody here has is kept (IdleHold), unless its call says another time
  /// (Lease::cache). 0: not at all; adaptive_cache: it is learned.
  std::chrono::milliseconds cache{0};
  /// How many holds of one shard are idle at most.
  std::uint8_t most_idle = most_idle_of_shard;
  bool pushes = true;    ///< Capabilities::pushes
  bool grants = false;   ///< the backend keeps a queue of processes (Capabilities::grants)
  bool in_order = true;  ///< Capabilities::in_order
  bool expires = false;  ///< Capabilities::expires
  bool watches = false;  ///< Capabilities::watches
  /// Holds are checked at common times, so that their checks are sent together.
  bool common_checks = false;
  Clock::duration check_phase{};  ///< shifts the common times of this Locks against those of others
  /// Whom events are made for.
  enum class Events : std::uint8_t { nobody, losses, everything } events = Events::nobody;
  std::array<std::uint64_t, 2> space{};  ///< HoldId::space of this process's holds
  /// The size in bytes of Options::prefix, with which each key begins and which events leave out.
  std::size_t prefix_size = 0;
  /// The text by which holders describe their process (Options::announce); empty: none.
  std::string announcement{};
  /// The clock whose wall() dates the announcements; null: they have no date. No decision uses it.
  const Clock* announced_time = nullptr;
  /// Ids are numbered in steps of this: the shards share one space of ids without meeting.
  std::uint64_t id_step = 1;

  /// The shortest lease from `least` on that the backend offers.
  [[nodiscard]] std::chrono::milliseconds offered_lease(
      std::chrono::milliseconds least) const noexcept {
    const auto steps =
        (least + lease_granularity - std::chrono::milliseconds(1)) / lease_granularity;
    return std::max(min_lease, steps * lease_granularity);
  }
};

/// Whether holds may become idle (CoordinatorSettings::cache, Lease::cache).
enum class KeepsIdle : std::uint8_t {
  yes,
  not_yet,    ///< the backend was not there: whether it tells of those who wait is not known
  never,      ///< it does not tell of them
  no_longer,  ///< no Locks is left
};

/// Settings, fresh hold ids and chance. Guarded by the shard's mutex.
class CoordinatorContext {
 public:
  CoordinatorContext() noexcept = default;
  /// `first` is the number of the first id.
  CoordinatorContext(const CoordinatorSettings& shared, std::uint64_t first,
                     std::uint64_t seed) noexcept
      : settings(&shared), number_(first), chance_(seed | 1) {}

  [[nodiscard]] HoldId fresh_id() noexcept { return {settings->space, fresh_number()}; }
  /// HoldId::number of a fresh id.
  [[nodiscard]] std::uint64_t fresh_number() noexcept {
    return std::exchange(number_, number_ + settings->id_step);
  }

  /// A pseudo-random number below `bound` (xorshift; only spreads polls).
  [[nodiscard]] std::uint64_t chance(std::uint64_t bound) noexcept {
    chance_ ^= chance_ << 13;
    chance_ ^= chance_ >> 7;
    chance_ ^= chance_ << 17;
    return bound == 0 ? 0 : chance_ % bound;
  }

  /// Notes whether the link to the only server is down. Ignores a notification that names one of
  /// several servers, which need not be that of a key.
  void note_link(const Notification& notification) noexcept {
    using Kind = Notification::Kind;
    const bool down = notification.kind == Kind::link_down;
    const bool of_only_server = notification.server.empty();
    if (of_only_server && (down || notification.kind == Kind::link_up)) link_is_down = down;
  }

  /// Larger than any before: the order in which calls came, over all keys of the shard.
  [[nodiscard]] std::uint64_t ticket() noexcept { return ++tickets_; }

  [[nodiscard]] bool too_many_are_idle() const noexcept { return idle_holds > settings->most_idle; }

  const CoordinatorSettings* settings = nullptr;
  LockSpace* space = nullptr;      ///< whose shard this is; null in the simulator
  std::uint32_t hold_objects = 0;  ///< Hold objects granted and not yet released
  std::uint8_t idle_holds = 0;     ///< RemoteHold::Stage::idle
  KeepsIdle keeps_idle = KeepsIdle::yes;
  bool closed = false;
  /// The only connection of the backend is down, by its last notification.
  bool link_is_down = false;
  std::unique_ptr<ReuseTimes> reuse_times;  ///< null: no hold with adaptive_cache has ended yet

 private:
  std::uint64_t number_ = 1;
  std::uint64_t chance_ = 1;
  std::uint64_t tickets_ = 0;
};

}  // namespace latchkey::inline v1::detail
