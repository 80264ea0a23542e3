// What you hold.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string_view>
#include <utility>

#include <latchkey/lock_type.hpp>

namespace latchkey {

namespace detail {
class RemoteHold;
class LockSpace;
}  // namespace detail

/// A lock that is held: releases itself, and tells when it was lost.
///
/// | state    | how it comes about                    | lost() | release()                        |
/// |----------|---------------------------------------|--------|----------------------------------|
/// | held     | acquire, try_acquire                  | false  | true; then empty                 |
/// | lost     | its deadline passed, or the backend   | true   | false; then empty                |
/// |          | said that it holds no longer          |        |                                  |
/// | empty    | moved from, or released               | true   | false                            |
///
/// Move-only. May be used and destroyed on any thread, one at a time; lost() and stop_token() may
/// be asked by any number at once. The destructor releases, never throws, and tells the listener
/// what it could not say. After a fork every Hold of the child is lost and its release does
/// nothing.
class [[nodiscard]] Hold {
 public:
  Hold(Hold&& other) noexcept
      : remote_(std::exchange(other.remote_, nullptr)), terms_(other.terms_) {}
  Hold& operator=(Hold&& other) noexcept;
  ~Hold() {
    if (remote_ != nullptr) release_quietly_after(std::chrono::milliseconds(0));
  }

  /// The key with its prefix; empty for an empty hold. Valid until the hold is released.
  [[nodiscard]] std::string_view key() const noexcept;

  /// What was asked for; REENTRANT for an empty hold.
  [[nodiscard]] LockType type() const noexcept;

  /// The time until the deadline: `sent + lease - max(5 ms, lease/100)`, where `sent` was read
  /// before the request left. Zero when lost. A renewal moves it, on another thread.
  [[nodiscard]] std::chrono::milliseconds remaining() const noexcept;

  /// Larger than any given for the key before; empty where the type gives none (all but FENCED).
  [[nodiscard]] std::optional<std::uint64_t> fencing_token() const noexcept;

  /// True from the deadline on, for ever, for every thread that asks: by comparing clocks and
  /// nothing else. What ends a hold on the server before that is noticed at the next check, at most
  /// lease/3 later.
  [[nodiscard]] bool lost() const noexcept;

  /// Stop is requested once the hold is lost. Callbacks run on the notifier thread.
  [[nodiscard]] std::stop_token stop_token() const;

  /// Moves the deadline to `lease` from now, never back. False: the hold is no longer ours. Throws
  /// BackendUnavailable where no answer came; the hold goes on then to its old deadline.
  bool extend(std::chrono::milliseconds lease);

  /// Gives the lock back; the hold is empty afterwards in any case. False: it had been lost. Throws
  /// BackendUnavailable where nobody can tell: the lock ends at the latest with its lease.
  bool release();

  /// The same, but the key stays locked for `linger` longer, held by nobody: LOCKED's hold_for. No
  /// thread waits for it; the lease may end it earlier.
  bool release_after(std::chrono::milliseconds linger);

  /// The same as the destructor does it: what cannot be said is told to the listener.
  void release_quietly_after(std::chrono::milliseconds linger) noexcept;

 private:
  friend class detail::LockSpace;

  /// What this one hold was granted for, kept to undo exactly that.
  struct Terms {
    LockType type = LockType::REENTRANT;
    bool watchdog = false;
  };

  Hold(detail::RemoteHold* remote, Terms terms) noexcept : remote_(remote), terms_(terms) {}

  detail::RemoteHold* remote_;  // counted: this hold is one of its references
  Terms terms_;
};

}  // namespace latchkey
