// Access to private members of Lock and Hold, above all for asynchronous operations.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <latchkey/count_down_latch.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/lock.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/semaphore.hpp>

#include "locks/hold/held.hpp"
#include "locks/hold/scope_holds.hpp"
#include "locks/space/lock_space.hpp"
#include "locks/space/space_ref.hpp"

namespace latchkey::inline v1::detail {

class LockAccess {
 public:
  [[nodiscard]] static const std::shared_ptr<SpaceRef>& space(const Locks& locks) noexcept {
    return locks.space_;
  }
  [[nodiscard]] static const std::shared_ptr<SpaceRef>& space(const Lock& lock) noexcept {
    return lock.space_;
  }
  [[nodiscard]] static const std::shared_ptr<SpaceRef>& space(
      const CountDownLatch& latch) noexcept {
    return latch.space_;
  }
  [[nodiscard]] static const Lock& lock(const Semaphore& semaphore) noexcept {
    return semaphore.lock_;
  }
  /// The locks of several keys; null: `lock` is of one key.
  [[nodiscard]] static const std::shared_ptr<const LockSet>& several(const Lock& lock) noexcept {
    return lock.several_;
  }
  /// The place of a lock of one key.
  [[nodiscard]] static KeyPlace place(const Lock& lock) noexcept {
    return lock.space_->space().driver().place_of(lock.key_, lock.hash_);
  }
  /// The key with its prefix.
  [[nodiscard]] static const std::string& full_key(const Lock& lock) noexcept { return lock.key_; }
  [[nodiscard]] static const std::string& full_key(const CountDownLatch& latch) noexcept {
    return latch.key_;
  }
  /// The owner that the lock was made with; empty: none.
  [[nodiscard]] static std::optional<Owner> owner(const Lock& lock) noexcept { return lock.owner_; }
};

class HoldAccess {
 public:
  [[nodiscard]] static Hold make(Held held, HoldTerms terms) noexcept { return Hold(held, terms); }
  [[nodiscard]] static Hold make_empty() noexcept { return Hold(Held(), HoldTerms()); }
  [[nodiscard]] static bool is_empty(const Hold& hold) noexcept { return hold.is_empty(); }

  [[nodiscard]] static const Held& held(const Hold& hold) noexcept { return hold.held_; }
  [[nodiscard]] static HoldTerms terms(const Hold& hold) noexcept { return hold.terms_; }
  /// Releases as the destructor does; the key stays locked for `linger` longer.
  static void release_quietly(Hold& hold, std::chrono::milliseconds linger) noexcept {
    hold.release_quietly_after(linger);
  }

  /// The space of the first key. Null: no Locks and no Lock of it is left, or the hold is empty or,
  /// in a fork, the parent's, whose space may be deleted.
  [[nodiscard]] static std::shared_ptr<SpaceRef> space(const Hold& hold) noexcept {
    if (hold.is_empty()) return nullptr;
    const RemoteHold& first = first_remote(hold);
    if (first.inherited.load(std::memory_order_relaxed)) return nullptr;
    return first.space->reference();
  }

  /// The contents of a hold that is given up, and for how long the key has to stay locked. `take`
  /// leaves the hold empty.
  struct Taken {
    Held held{};
    HoldTerms terms{};
    std::chrono::milliseconds linger{};
  };
  [[nodiscard]] static Taken take(Hold& hold) noexcept {
    const auto linger = hold.scope_ != nullptr ? hold.end_scope() : std::chrono::milliseconds(0);
    return {std::exchange(hold.held_, Held()), hold.terms_, linger};
  }

 private:
  [[nodiscard]] static const RemoteHold& first_remote(const Hold& hold) noexcept {
    if (MultiHold* const* const several = std::get_if<MultiHold*>(&hold.held_)) {
      return (*several)->members().front().remote();
    }
    return *std::get<RemoteHold*>(hold.held_);
  }
};

}  // namespace latchkey::inline v1::detail
