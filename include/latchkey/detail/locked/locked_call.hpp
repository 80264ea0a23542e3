// One call under LOCKED: the part that does not depend on types.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/attempt.hpp>
#include <latchkey/clock.hpp>
#include <latchkey/detail/locked/locked_site.hpp>
#include <latchkey/detail/locked/site_policy.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/key_buffer.hpp>
#include <latchkey/permits.hpp>
#include <latchkey/site.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

class KeyError;
class Locks;

namespace detail {

struct ObservedCall;

/// The options of one LOCKED: an Attempt without its stop token, so that it is trivially
/// destructible, and the strategies.
struct LockTerms {
  LockType type = LockType::REENTRANT;
  Reentry reentry = Reentry::count;
  bool raises_timeout = true;
  bool raises_unavailable = true;
  bool raises_loss = true;
  bool raises_unconfirmed = false;  ///< a release that the backend did not confirm
  bool fenced = false;              ///< Attempt::fenced
  Wait wait = default_wait;
  Lease lease = default_lease;
  std::chrono::milliseconds hold_for{0};  ///< 0: released when the body returns
  SiteName name{};
  Permits permits{};  ///< PERMIT
  // Set in code: has precedence over a policy's defaults.
  bool says_type = false;
  bool says_wait = false;
  bool says_lease = false;
  bool says_hold_for = false;
  bool says_timeout = false;
  bool says_unavailable = false;
  bool says_lost = false;
  bool says_unconfirmed = false;
  // Set only by a policy.
  bool skips_timeout = false;
  bool skips_unavailable = false;
  bool runs_unlocked = false;  ///< after a timeout
  bool unlocked = false;       ///< always
};

/// Applies `policy` to the options in code.
[[nodiscard]] LockTerms under_policy(const LockTerms& said, const SitePolicy& policy) noexcept;

/// Throws for a LOCKED_BY without its policy.
[[noreturn]] void throw_not_configured(std::string_view policy);

/// The result of the attempt to enter.
enum class Entry : std::uint8_t {
  held,
  unneeded,             ///< `.when` returned false: the body runs without the lock
  timeout,              ///< the strategy of on_timeout decides
  unavailable,          ///< the strategy of on_unavailable decides
  skipped_timeout,      ///< a policy has on_timeout: skip
  skipped_unavailable,  ///< a policy has on_unavailable: skip
};

/// Lives on the stack around the body, linked to the enclosing calls of the same thread.
class LockedCall {
 public:
  /// `options` outlives this object.
  template <class Options>
  explicit LockedCall(const Options& options) noexcept
      : terms_(&options.terms), locks_(options.locks()), cancel_(options.stop_token()), hold_() {}
  LockedCall(const LockTerms& terms, const Locks* locks) noexcept
      : terms_(&terms), locks_(locks), cancel_(nullptr), hold_() {}
  LockedCall(const LockedCall&) = delete;
  LockedCall& operator=(const LockedCall&) = delete;
  /// After an exception of the body: releases, and reports errors to the listener instead of
  /// throwing.
  ~LockedCall() {
    if (linked_ || observed_ != nullptr) end();
  }

  /// Renders the key or keys of `known`, or those of its current policy, and acquires them. Throws
  /// what Locks::acquire throws, NotConfigured, and KeyError with the method in its message.
  /// Returns timeout or unavailable instead if the terms do not raise it; decided() was applied.
  [[nodiscard]] Entry enter(const LockedSite& known, Site& site, const void* const* arguments);

  /// Applies the policy's strategy to an outcome of enter().
  [[nodiscard]] Entry decided(Entry entry) noexcept {
    return entry == Entry::held || entry == Entry::unneeded ? entry : decide(entry);
  }

  /// Starts a body that runs without the lock.
  void enter_unlocked() noexcept { link(); }

  /// For HERE: moves the hold to the scope. This call then behaves like one without the lock.
  [[nodiscard]] Hold take_hold();

  /// Releases after a body that returned. Throws LockLost, ReleaseUnconfirmed and BackendRefused if
  /// the terms raise them.
  void leave();

  /// Rethrows `error` with the method and the key template in its message; the policy's template if
  /// the policy replaces the key.
  [[noreturn]] void name(const KeyError& error, Site& site, std::string_view key_template);

  /// For the catch block of a call that never throws: classifies the exception. If it is neither a
  /// timeout nor a backend that does not reply, it goes to the listener.
  [[nodiscard]] static Entry failed(const Locks* locks, LockType type, const Site& site) noexcept;

  [[nodiscard]] Hold* hold() noexcept { return hold_ ? &*hold_ : nullptr; }
  [[nodiscard]] const Hold* hold() const noexcept { return hold_ ? &*hold_ : nullptr; }
  /// Empty if several keys are held: hold() lists them.
  [[nodiscard]] std::string_view key() const noexcept { return key_; }
  /// Whether the hold includes `key`, which is given without the prefix.
  [[nodiscard]] bool covers(std::string_view key) const;
  [[nodiscard]] LockedCall* outer() const noexcept { return outer_; }
  /// The location and the key template; known from `enter` on.
  [[nodiscard]] const Origin& origin() const noexcept { return origin_; }
  [[nodiscard]] const Locks* locks() const noexcept { return locks_; }
  [[nodiscard]] static LockedCall* innermost() noexcept;
  /// Returns the one before. For calls whose bodies move between threads.
  static LockedCall* exchange_innermost(LockedCall* call) noexcept;

 private:
  friend class CoroutineCall;
  friend class LockedScope;
  friend struct ObservedCall;

  [[nodiscard]] Entry enter_named(const LockedSite& known, Site& site,
                                  const void* const* arguments);
  void leave_linked();
  void leave_plainly();
  void leave_observed();
  [[nodiscard]] const SitePolicy* follow(const PolicySlot& slot) noexcept {
    const std::uint32_t number = slot.load(std::memory_order_relaxed);
    return number == 0 ? nullptr : take(number);
  }
  [[nodiscard]] const SitePolicy* take(std::uint32_t slot) noexcept;
  [[nodiscard]] Entry enter_unnamed(const LockedSite& known, Site& site,
                                    const void* const* arguments);
  /// Everything before the acquire, for a coroutine. Several keys are returned.
  [[nodiscard]] std::vector<std::string> prepare(const LockedSite& known, Site& site,
                                                 const void* const* arguments);
  [[nodiscard]] std::vector<std::string> render(const LockedSite& known, const SitePolicy* policy,
                                                std::span<const void* const> arguments);
  [[nodiscard]] Entry enter_by_policy(const SitePolicy& policy,
                                      std::span<const void* const> arguments, Site& site);
  [[nodiscard]] Entry enter_rendered(std::string_view key_template, Site& site);
  [[nodiscard]] Entry enter_several(const LockedSite& known, Site& site,
                                    const void* const* arguments);
  [[nodiscard]] Entry enter_all(RenderedKeys& keys, std::string_view key_template, Site& site);
  [[nodiscard]] Entry decide(Entry entry) noexcept;
  template <class Take, class TryTake>
  [[nodiscard]] Entry enter_by(const Take& take, const TryTake& try_take,
                               std::string_view key_template, Site& site);
  [[nodiscard]] std::chrono::milliseconds linger() const;
  void release(std::chrono::milliseconds linger);
  [[noreturn]] void throw_lost() const;
  /// For the handler around a release after the body. Throws the exception again if the terms say
  /// so; otherwise a release that was not confirmed is told to a program without a listener.
  void failed_to_release() const;
  void link() noexcept;
  void unlink() noexcept;
  void end() noexcept;

  const LockTerms* terms_;
  const Locks* locks_;             // null: the default Locks
  const std::stop_token* cancel_;  // null: nothing ends the wait early
  KeyBuffer rendered_;
  std::string_view key_{};  // empty for several keys: the hold has them
  Origin origin_{};
  // Destroyed by end() and leave(), which are out of line; an engaged hold is always linked.
  // Otherwise every decorated place would contain the code that destroys a hold.
  union {
    std::optional<Hold> hold_;
  };
  // Written only if a policy applies.
  union {
    LockTerms changed_;
  };
  Clock::time_point entered_{};  ///< read only if `hold_for` is set
  LockedCall* outer_ = nullptr;
  ObservedCall* observed_ = nullptr;  ///< owned; null: nobody observes this call
  bool linked_ = false;
};

}  // namespace detail
}  // namespace latchkey::inline v1
#pragma GCC visibility pop
