// What the scopes of one thread hold by HERE.
#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include <latchkey/clock.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/lock_type.hpp>

namespace latchkey::detail {

class ScopeHolds;

/// One Hold that HERE gave. Its Hold refers to it until it is released, on whichever thread.
struct ScopeHold {
  ScopeHold* next = nullptr;  ///< the next older one of the same thread
  ScopeHolds* home = nullptr;
  Held* held = nullptr;
  bool several = false;  ///< `held` is a MultiHold, not a RemoteHold
  LockType type = LockType::REENTRANT;
  std::string prefix{};  ///< of its Locks
  Clock* clock = nullptr;
  Clock::time_point held_until{};  ///< LOCKED's hold_for; asked for only if `clock` is not null
  int exceptions = 0;              ///< that were under way when it began
  int forks = 0;                   ///< how many forks made this process when it began

  void reset() noexcept;
  [[nodiscard]] bool covers(std::string_view key) const;
  [[nodiscard]] bool lost() const noexcept;
  /// How much longer the key stays locked after a release now: what remains of hold_for, unless an
  /// exception ends the scope.
  [[nodiscard]] std::chrono::milliseconds linger() const noexcept;
};

/// The scopes of one thread, which alone adds to them and asks for them; any thread may end one.
/// Goes with its thread, or with the last Hold that came from it.
class ScopeHolds {
 public:
  enum class Found : unsigned char { nothing, lost, held };

  /// From now on `hold`, which belongs to no scope yet, is one of the calling thread's. With a
  /// clock its key stays locked until `held_until` at least. Throws std::bad_alloc.
  static Hold enter(Hold hold, std::string_view prefix, Clock* clock, Clock::time_point held_until);
  /// On any thread, before what it holds is released. Gives `scope` back to the magazine.
  static void leave(ScopeHold& scope) noexcept;

  /// Whether a scope of the calling thread holds `key`, given without the prefix. `type` is that of
  /// a lost one.
  [[nodiscard]] static Found find(std::string_view key, LockType& type);

 private:
  struct AtFork;
  struct AtThreadEnd;

  static void add(ScopeHold& scope);
  void remove(ScopeHold& scope) noexcept;

  std::mutex mutex_;
  ScopeHold* newest_ = nullptr;
  bool orphaned_ = false;  ///< its thread has ended
};

}  // namespace latchkey::detail
