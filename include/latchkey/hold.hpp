// What you hold.
#pragma once

#include <latchkey/cxx20.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <latchkey/lock_type.hpp>

namespace latchkey {

namespace detail {
class RemoteHold;
class LockSpace;
class MultiHold;
class MultiAcquire;
class ScopeHolds;
struct ScopeHold;
class LockedCall;
struct ErrorContext;

/// What a Hold refers to: its share of one key's hold at the backend, or the holds of several keys,
/// which it owns. src/locks/hold/held.hpp gives both one interface.
using Held = std::variant<RemoteHold*, MultiHold*>;

/// What one Hold was granted for: its release undoes exactly that.
struct HoldTerms {
  LockType type = LockType::REENTRANT;
  bool watchdog = false;
};
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
/// One of several keys (Locks::all_of, KEYS, [*]) is one Hold: its deadline is the earliest of its
/// members', and it is lost as soon as one of them is.
///
/// Move-only. May be used and destroyed on any thread, one at a time; lost() and stop_token() may
/// be asked by any number at once. The destructor releases, never throws, and tells the listener
/// what it could not say. After a fork every Hold of the child is lost and its release does
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

  /// The key with its prefix; empty for an empty hold. Of several keys a text for messages that
  /// names them, or the first of many. Valid until the hold is released.
  [[nodiscard]] std::string_view key() const noexcept;

  /// It holds `key`, given with its prefix, maybe among others.
  [[nodiscard]] bool covers(std::string_view key) const noexcept;

  /// What the backend calls this hold, as LockInfo names holders: `<uuid>:<number>`. Of several
  /// keys the ids of all, in the order of the keys, with commas between; empty for an empty hold.
  [[nodiscard]] std::string id() const;

  /// What was asked for; REENTRANT for an empty hold. Of several keys the first one's.
  [[nodiscard]] LockType type() const noexcept;

  /// The time until the deadline: `sent + lease - max(5 ms, lease/100)`, where `sent` was read
  /// before the request left. Zero when lost. A renewal moves it, on another thread.
  [[nodiscard]] std::chrono::milliseconds remaining() const noexcept;

  /// Larger than any given for the key before; empty where the type gives none (all but FENCED),
  /// and for a hold of several keys, since a token means something to its own key only.
  [[nodiscard]] std::optional<std::uint64_t> fencing_token() const noexcept;

  /// The token of `key`, with its prefix; empty where that is not held here.
  [[nodiscard]] std::optional<std::uint64_t> fencing_token(std::string_view key) const noexcept;

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
  /// ReleaseUnconfirmed, a BackendUnavailable, if the backend does not answer: the lock ends at the
  /// latest with its lease.
  bool release();

  /// The same, but the key stays locked for `linger` longer, held by nobody: LOCKED's hold_for. No
  /// thread waits for it; the lease may end it earlier.
  bool release_after(std::chrono::milliseconds linger);

  /// The same as the destructor does it: what cannot be said is told to the listener.
  void release_quietly_after(std::chrono::milliseconds linger) noexcept;

 private:
  friend class detail::LockSpace;
  friend class detail::MultiAcquire;
  friend class detail::ScopeHolds;
  friend class detail::LockedCall;

  Hold(detail::Held held, detail::HoldTerms terms) noexcept : held_(held), terms_(terms) {}

  [[nodiscard]] bool is_empty() const noexcept { return held_ == detail::Held(); }

  /// It is no scope's any more; the linger that LOCKED's hold_for still asks for.
  std::chrono::milliseconds end_scope() noexcept;

  /// release_after. For a decorated call, whose body has run, `context` is what its errors say of
  /// it, and a loss is thrown as LockLost, unless there is nothing to release.
  bool give_back(std::chrono::milliseconds linger, const detail::ErrorContext* context);

  detail::Held held_;
  detail::HoldTerms terms_;
  detail::ScopeHold* scope_ = nullptr;  // not null: HERE gave it
};

}  // namespace latchkey
