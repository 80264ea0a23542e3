// Several keys that no other call of this process uses, acquired at once.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include <latchkey/backend.hpp>
#include <latchkey/clock.hpp>

#include "locks/coordinator/call.hpp"
#include "locks/hold/multi_hold.hpp"

namespace latchkey::inline v1::detail {

class Coordinator;
class LockSpace;
class ShardLocks;

/// Acquires as BatchAcquire would, in fewer steps, if a backend in the same process answers at
/// once, no other call of this process needs one of the keys, and no listener gets the grants: one
/// acquire_all, and no call that waits. It is for MultiAcquire what
/// Coordinator::acquire_at_once is for Coordinator::acquire.
class ImmediateBatch {
 public:
  static constexpr std::size_t most = 8;  ///< keys

  /// One attempt at `keys`, which have their prefix. Null: it is not granted, and nothing is
  /// changed; the caller makes an ordinary acquire, which has the errors, too. Throws
  /// std::bad_alloc and BackendUnavailable.
  [[nodiscard]] static MultiHold::Owned acquire(LockSpace& space,
                                                std::span<const std::string_view> keys,
                                                const AcquireTerms& terms);

 private:
  struct Item {
    std::string_view key;
    std::size_t hash;
    Coordinator* home;
    RemoteHold* claim;
  };

  ImmediateBatch(LockSpace& space, const AcquireTerms& terms, Clock::time_point now) noexcept
      : space_(space), terms_(terms), now_(now) {}

  [[nodiscard]] bool set_keys(std::span<const std::string_view> keys) noexcept;
  /// Tells `all` in which order the caller has named the keys.
  void set_named_order(std::span<const std::string_view> keys, MultiHold& all);
  [[nodiscard]] std::span<Item> items() noexcept { return {items_.data(), size_}; }
  [[nodiscard]] bool take();
  [[nodiscard]] bool all_unused(ShardLocks& locks) noexcept;
  [[nodiscard]] bool claim_all(ShardLocks& locks) noexcept;
  [[nodiscard]] bool ask(Outcome& outcome) noexcept;
  void withdraw_all(ShardLocks& locks);

  LockSpace& space_;
  const AcquireTerms& terms_;
  const Clock::time_point now_;
  std::size_t size_ = 0;
  std::array<Item, most> items_;  // NOLINT: the first size_ are used
};

}  // namespace latchkey::inline v1::detail
