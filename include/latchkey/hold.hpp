// Hold: a lock that is held.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <latchkey/fence.hpp>
#include <latchkey/lock_type.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

namespace detail {
class RemoteHold;
class LockSpace;
class MultiHold;
class MultiAcquire;
class ScopeHolds;
struct ScopeHold;
class LockedCall;
class HoldAccess;
struct ErrorContext;

/// The target of a Hold: its share of the backend's hold of one key, or the holds of several keys,
/// which it owns. src/locks/hold/held.hpp gives both one interface.
using Held = std::variant<RemoteHold*, MultiHold*>;

/// The terms of the grant that one Hold stands for. Its release undoes exactly that grant. Aligned
/// to be passed in one register.
struct alignas(4) HoldTerms {
  LockType type = LockType::REENTRANT;
  bool watchdog = false;
  bool detached : 1 = false;  ///< its destructor does not wait for the backend's reply
  bool fenced : 1 = false;    ///< it has a fencing token
  std::uint8_t limit = 0;     ///< the number of the limit that held_at_most sets; 0: none
};
}  // namespace detail

/// A lock that is held. The destructor releases it; lost() reports whether it was lost.
///
/// | state    | reached by                            | lost() | release()                        |
/// |----------|---------------------------------------|--------|----------------------------------|
/// | held     | acquire, try_acquire                  | false  | true; then empty                 |
/// | lost     | its deadline passed, or the backend   | true   | false; then empty                |
/// |          | reported that the hold has ended      |        |                                  |
/// | empty    | moved from, or released               | true   | false                            |
///
/// Several keys (Locks::all_of, KEYS, [*]) make one Hold: its deadline is the earliest of its
/// members', and it is lost as soon as one member is lost.
///
/// Move-only. May be used and destroyed on any thread, one at a time; any number of threads may
/// call lost() and stop_token() at once. The destructor releases and never throws; it reports
/// errors to the listener. After a fork every Hold of the child is lost and its release does
/// nothing.
class [[nodiscard(
    "latchkey: a lock is held for as long as its Hold lives: auto hold = ...")]] Hold {
 public:
  Hold(Hold&& other) noexcept
      : held_(std::exchange(other.held_, detail::Held())),
        terms_(other.terms_),
        scope_(std::exchange(other.scope_, nullptr)) {}
  Hold& operator=(Hold&& other) noexcept;
  ~Hold() {
    if (!is_empty()) release_quietly_after(std::chrono::milliseconds(0));
  }

  /// The key without the prefix, as it was given; empty for an empty hold. For several keys: a text
  /// for messages that lists them, or the first ones. Valid until the hold is released.
  [[nodiscard]] std::string_view key() const noexcept;

  /// Whether the hold includes `key`, which is given without the prefix.
  [[nodiscard]] bool covers(std::string_view key) const noexcept;

  /// The backend's id of this hold, as in LockInfo: `<uuid>:<number>`. For several keys: the ids of
  /// all, in the order of the keys, separated by commas. Empty for an empty hold.
  [[nodiscard]] std::string id() const;

  /// The type that was acquired; REENTRANT for an empty hold. For several keys: the first one's.
  [[nodiscard]] LockType type() const noexcept;

  /// PERMIT: how many permits of the semaphore it has; otherwise 0.
  [[nodiscard]] std::uint32_t permits() const noexcept;

  /// The time until the deadline, which is `sent + lease - max(5 ms, lease/100)`; `sent` was read
  /// before the request was sent. Zero if the hold is lost. A renewal moves the deadline, on
  /// another thread.
  [[nodiscard]] std::chrono::milliseconds remaining() const noexcept;

  /// A number larger than any given for the key before. FENCED has one, and what was acquired with
  /// `.fenced()` (Attempt::fenced); all else has none. Empty for a hold of several keys, because a
  /// token is meaningful only together with its own key.
  [[nodiscard]] std::optional<std::uint64_t> fencing_token() const noexcept;

  /// The token of `key`, which is given without the prefix; empty if this hold does not include it.
  [[nodiscard]] std::optional<std::uint64_t> fencing_token(std::string_view key) const noexcept;

  /// The token of the key that KEYS, or the list of keys, names at `index`, from 0; empty beyond
  /// the last. One key has the index 0.
  [[nodiscard]] std::optional<std::uint64_t> fencing_token(std::size_t index) const noexcept;

  /// The key, the type and the token as one value, to be sent with each request to what the lock
  /// guards. Empty whenever fencing_token() is. Throws std::bad_alloc.
  [[nodiscard]] std::optional<Fence> fence() const;

  /// The fence of `key`, which is given without the prefix; empty whenever fencing_token(key) is.
  [[nodiscard]] std::optional<Fence> fence(std::string_view key) const;

  /// The fence of the key at `index`; empty whenever fencing_token(index) is.
  [[nodiscard]] std::optional<Fence> fence(std::size_t index) const;

  /// True from the deadline on, for every thread; never false again. Compares clocks and does
  /// nothing else. If a hold ends on the server before its deadline, this returns true from the
  /// next check on, at most lease/3 later, or at once if the backend watches the key
  /// (Capabilities::watches).
  [[nodiscard]] bool lost() const noexcept;

  /// A token whose stop is requested when the hold is lost. Callbacks run on the notifier thread.
  [[nodiscard]] std::stop_token stop_token() const;

  /// Whether somebody has asked for the lock by Locks::revoke since this hold
  /// began. That is a request and no loss: nothing ends unless the holder releases. Once the hold
  /// is released, its process hands the lock to no other call of its own before others can have it.
  /// The first call, or that of revocation_token(), has the hold listen; what was asked before
  /// may be missed. False for an empty hold, and always if the backend offers no revocation
  /// (Capabilities::revocation) or forbids it.
  [[nodiscard]] bool revoked() const noexcept;

  /// A token whose stop is requested when somebody asks for the lock; see revoked(). Not requested
  /// by a loss, nor ever if the hold is empty or the backend offers no revocation. Callbacks run on
  /// the notifier thread.
  [[nodiscard]] std::stop_token revocation_token() const;

  /// Moves the deadline to `lease` from now, never to an earlier time. Returns false if the backend
  /// no longer has the hold, and also, without a change, if the deadline would be later than
  /// held_at_most allows: lost() tells the two apart. Throws BackendUnavailable if the backend does
  /// not reply; the old deadline stays then.
  bool extend(std::chrono::milliseconds lease);

  /// The key stays locked for at least `time` from now, also if this Hold is released or destroyed
  /// earlier: nobody holds it then, and no thread waits for it. The lease may end it earlier. A
  /// later call never shortens it. LOCKED has a member of this name, which counts from the call.
  void hold_for(std::chrono::milliseconds time) noexcept;

  /// Releases the lock; the hold is empty afterwards in any case. Returns false if it had been
  /// lost. Throws ReleaseUnconfirmed, a BackendUnavailable, if the backend does not reply; the lock
  /// ends with its lease at the latest.
  bool release();

 private:
  friend class detail::LockSpace;
  friend class detail::MultiAcquire;
  friend class detail::ScopeHolds;
  friend class detail::LockedCall;
  friend class detail::HoldAccess;

  Hold(detail::Held held, detail::HoldTerms terms) noexcept : held_(held), terms_(terms) {}

  [[nodiscard]] bool is_empty() const noexcept { return held_ == detail::Held(); }

  /// Detaches the hold from its HERE scope. Returns the linger that LOCKED's hold_for requires.
  std::chrono::milliseconds end_scope() noexcept;

  /// Like release(), as the destructor does it: reports errors to the listener instead of throwing.
  /// The key stays locked for `linger` longer.
  void release_quietly_after(std::chrono::milliseconds linger) noexcept;

  /// The release of a decorated call, whose body has run; the key stays locked for `linger` longer.
  /// `context` describes the call in error texts, and a loss is thrown as LockLost, unless there is
  /// nothing to release. Null: no decorated call.
  bool give_back(std::chrono::milliseconds linger, const detail::ErrorContext* context);

  detail::Held held_;
  detail::HoldTerms terms_;
  detail::ScopeHold* scope_ = nullptr;  // not null: made by HERE
};

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
