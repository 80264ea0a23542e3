// One call under LOCKED: everything about it that does not depend on types.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string_view>

#include <latchkey/attempt.hpp>
#include <latchkey/clock.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/site.hpp>

namespace latchkey {

class Locks;

namespace detail {

/// What one LOCKED asks for: an Attempt without its stop token, so that it is trivial to destroy,
/// and what is done afterwards.
struct LockTerms {
  LockType type = LockType::REENTRANT;
  Reentry reentry = Reentry::count;
  bool raises_timeout = true;
  bool raises_unavailable = true;
  bool raises_loss = true;
  Wait wait = std::chrono::seconds(3);
  Lease lease = std::chrono::seconds(30);
  std::chrono::milliseconds hold_for{0};  ///< 0: released when the body returns
  SiteName name{};
};

/// How it went to get in.
enum class Entry : std::uint8_t {
  held,
  unneeded,     ///< `.when` said no: the body runs without the lock
  timeout,      ///< the strategy of on_timeout decides
  unavailable,  ///< the strategy of on_unavailable decides
};

/// Lives on the stack around the body, linked to the calls of the same thread further out.
class LockedCall {
 public:
  /// `locks` null: the default ones. `cancel` null: nothing ends the wait early.
  LockedCall(const LockTerms& terms, const Locks* locks, const std::stop_token* cancel) noexcept
      : terms_(terms), locks_(locks), cancel_(cancel), hold_() {}
  LockedCall(const LockedCall&) = delete;
  LockedCall& operator=(const LockedCall&) = delete;
  /// After an exception of the body: releases, and tells the listener what it cannot throw.
  ~LockedCall() {
    if (linked_) end();
  }

  /// Acquires `key`, which must outlive this. Throws what Locks::acquire throws, and NotConfigured;
  /// gives timeout or unavailable instead where the terms do not raise that.
  [[nodiscard]] Entry enter(std::string_view key, Site& site);

  /// For a body that runs without the lock.
  void enter_unlocked() noexcept { link(); }

  /// After a body that returned: releases. Throws LockLost and BackendUnavailable where the terms
  /// say so.
  void leave();

  /// In a catch block of a call that never throws: what the error counts as. Neither a timeout nor
  /// ignorance: the listener is told.
  [[nodiscard]] static Entry failed(const Locks* locks, LockType type, const Site& site) noexcept;

  [[nodiscard]] Hold* hold() noexcept { return hold_ ? &*hold_ : nullptr; }
  [[nodiscard]] std::string_view key() const noexcept { return key_; }
  [[nodiscard]] LockedCall* outer() const noexcept { return outer_; }
  [[nodiscard]] static LockedCall* innermost() noexcept;

 private:
  [[nodiscard]] Entry acquire(const Locks& locks);
  void release(std::chrono::milliseconds linger);
  void link() noexcept;
  void unlink() noexcept;
  void end() noexcept;

  const LockTerms& terms_;
  const Locks* locks_;
  const std::stop_token* cancel_;
  std::string_view key_{};
  // Destroyed by end() and leave(), both out of line: an engaged one is always linked. Without this
  // every decorated place would carry the code that destroys a hold.
  union {
    std::optional<Hold> hold_;
  };
  Clock::time_point entered_{};  ///< read only where `hold_for` asks for it
  LockedCall* outer_ = nullptr;
  bool linked_ = false;
};

}  // namespace detail
}  // namespace latchkey
