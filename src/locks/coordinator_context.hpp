// What the coordinators of one shard share.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include <latchkey/backend.hpp>

#include "locks/remote_hold.hpp"

namespace latchkey::detail {

class LockSpace;

/// What a coordinator must know of its Locks.
struct CoordinatorSettings {
  std::chrono::milliseconds watchdog = std::chrono::seconds(30);
  std::chrono::milliseconds command_timeout = std::chrono::seconds(2);
  std::chrono::milliseconds unavailable_after = std::chrono::seconds(10);
  bool pushes = true;
  bool in_order = true;
  /// Whom events are made for.
  enum class Events : std::uint8_t { nobody, losses, everything } events = Events::nobody;
  std::array<std::uint64_t, 2> space{};
};

/// Settings, fresh hold ids, chance and spare RemoteHolds. Guarded by the shard's mutex.
class CoordinatorContext {
 public:
  /// Numbers are `first`, `first + stride`, …: shards share one space of ids without meeting.
  CoordinatorContext(const CoordinatorSettings& shared, std::uint64_t first, std::uint64_t stride,
                     std::uint64_t seed) noexcept
      : settings(&shared), number_(first), stride_(stride), chance_(seed | 1) {}

  [[nodiscard]] HoldId fresh_id() noexcept {
    const HoldId id{settings->space, number_};
    number_ += stride_;
    return id;
  }

  /// A pseudo-random number below `bound` (xorshift; only spreads polls).
  [[nodiscard]] std::uint64_t chance(std::uint64_t bound) noexcept {
    chance_ ^= chance_ << 13;
    chance_ ^= chance_ >> 7;
    chance_ ^= chance_ << 17;
    return bound == 0 ? 0 : chance_ % bound;
  }

  /// Larger than any before: the order in which calls came, over all keys of the shard.
  [[nodiscard]] std::uint64_t ticket() noexcept { return ++tickets_; }

  [[nodiscard]] RemoteHold& take();
  void give_back(RemoteHold& hold) noexcept;

  const CoordinatorSettings* settings;
  LockSpace* space = nullptr;  ///< whose shard this is; null in the simulator
  bool closed = false;
  std::uint64_t hold_objects = 0;  ///< Hold objects granted and not yet released

 private:
  static constexpr std::size_t most_spares = 64;

  std::uint64_t number_;
  std::uint64_t stride_;
  std::uint64_t chance_;
  std::uint64_t tickets_ = 0;
  std::vector<std::unique_ptr<RemoteHold>> spares_;
};

}  // namespace latchkey::detail
