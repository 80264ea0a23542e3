// The holds that the scopes of one thread have through HERE.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string_view>

#include <latchkey/clock.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/lock_type.hpp>

#include "core/mutex.hpp"
#include "core/thread_annotations.hpp"

namespace latchkey::inline v1::detail {

class ScopeHolds;

/// The scope of one Hold that HERE returned. The Hold refers to it until it is released, on any
/// thread.
struct ScopeHold {
  ScopeHold* next = nullptr;   ///< the next older one of the same thread
  ScopeHolds* home = nullptr;  ///< the list that it is in; null: its thread was about to end
  Held held{};
  HoldTerms terms{};
  Clock* clock = nullptr;
  Clock::time_point held_until{};  ///< LOCKED's hold_for, if `clock` is not null
  int exceptions = 0;              ///< uncaught ones when the scope began
  int forks = 0;                   ///< how many forks had led to this process when it began

  void reset() noexcept;
  [[nodiscard]] bool covers(std::string_view key) const noexcept;
  [[nodiscard]] bool lost() const noexcept;
  /// How much longer the key stays locked after a release now: what remains of hold_for, unless an
  /// exception ends the scope.
  [[nodiscard]] std::chrono::milliseconds linger() const noexcept;
};

/// The scopes of one thread. Only this thread adds and finds them; any thread may end one. Deleted
/// when its thread ends, or later with the last Hold that it lists.
class ScopeHolds {
 public:
  enum class Found : unsigned char { nothing, lost, held };

  /// Adds `hold`, which belongs to no scope yet, to the scopes of the calling thread. With a clock,
  /// its key stays locked until `held_until` at least. Throws std::bad_alloc.
  static Hold enter(Hold hold, Clock* clock, Clock::time_point held_until);
  /// Ends `scope`, on any thread, before its Hold is released.
  static void leave(ScopeHold& scope) noexcept;

  /// Whether a scope of the calling thread holds `key`, given without the prefix. Sets `type` to
  /// that of a lost one.
  [[nodiscard]] static Found find(std::string_view key, LockType& type);

 private:
  struct AtFork;
  struct AtThreadEnd;

  static void add(ScopeHold& scope);
  void remove(ScopeHold& scope) noexcept LATCHKEY_REQUIRES(mutex_);

  Mutex mutex_;
  ScopeHold* newest_ LATCHKEY_GUARDED_BY(mutex_) = nullptr;
  bool thread_ended_ LATCHKEY_GUARDED_BY(mutex_) = false;
};

}  // namespace latchkey::inline v1::detail
