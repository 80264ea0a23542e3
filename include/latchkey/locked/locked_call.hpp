// One call under LOCKED: everything about it that does not depend on types.
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
#include <latchkey/hold.hpp>
#include <latchkey/key/key_buffer.hpp>
#include <latchkey/locked/site_policy.hpp>
#include <latchkey/site.hpp>

namespace latchkey {

class KeyError;
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
  // What stands in code, where a policy's defaults do not.
  bool says_type = false;
  bool says_wait = false;
  bool says_lease = false;
  bool says_hold_for = false;
  bool says_timeout = false;
  bool says_unavailable = false;
  bool says_lost = false;
  // What only a policy says.
  bool skips_timeout = false;
  bool skips_unavailable = false;
  bool runs_unlocked = false;  ///< after a timeout
  bool unlocked = false;       ///< always
};

/// What `policy` makes of the terms that stand in code.
[[nodiscard]] LockTerms under_policy(const LockTerms& said, const SitePolicy& policy) noexcept;

/// LOCKED_BY without its policy.
[[noreturn]] void throw_not_configured(std::string_view policy);

/// How it went to get in.
enum class Entry : std::uint8_t {
  held,
  unneeded,             ///< `.when` said no: the body runs without the lock
  timeout,              ///< the strategy of on_timeout decides
  unavailable,          ///< the strategy of on_unavailable decides
  skipped_timeout,      ///< a policy says skip
  skipped_unavailable,  ///< the same
};

/// Lives on the stack around the body, linked to the calls of the same thread further out.
class LockedCall {
 public:
  /// `locks` null: the default ones. `cancel` null: nothing ends the wait early.
  LockedCall(const LockTerms& terms, const Locks* locks, const std::stop_token* cancel) noexcept
      : terms_(&terms), locks_(locks), cancel_(cancel), hold_() {}
  LockedCall(const LockedCall&) = delete;
  LockedCall& operator=(const LockedCall&) = delete;
  /// After an exception of the body: releases, and tells the listener what it cannot throw.
  ~LockedCall() {
    if (linked_) end();
  }

  /// What the policy in force says of this place, taken over for this call; null: nothing.
  const SitePolicy* follow(const PolicySlot& slot) noexcept {
    const std::uint32_t number = slot.load(std::memory_order_relaxed);
    return number == 0 ? nullptr : take(number);
  }

  /// Acquires `key`, which must outlive this and was made from `key_template`, or from that of the
  /// policy. Throws what Locks::acquire throws, and NotConfigured; gives timeout or unavailable
  /// instead where the terms do not raise that.
  [[nodiscard]] Entry enter(std::string_view key, std::string_view key_template, Site& site);

  /// The same for several keys at once, for none of which that would be a KeyError.
  [[nodiscard]] Entry enter_all(const std::vector<std::string>& keys, std::string_view key_template,
                                Site& site);
  /// The same for what the policy says of the key, rendered into `key` where it is one. The policy
  /// says_key().
  [[nodiscard]] Entry enter_by_policy(const SitePolicy& policy, KeyBuffer& key,
                                      std::span<const void* const> arguments, Site& site);

  /// The same for an outcome on which the policy may have the last word.
  [[nodiscard]] Entry decided(Entry entry) noexcept {
    return entry == Entry::held || entry == Entry::unneeded ? entry : decide(entry);
  }

  /// For a body that runs without the lock.
  void enter_unlocked() noexcept { link(); }

  /// For HERE: from now on the hold is the scope's, and this is as good as a call that ran
  /// unlocked.
  [[nodiscard]] Hold take_hold();

  /// After a body that returned: releases. Throws LockLost, ReleaseUnconfirmed and BackendRefused
  /// where the terms say so.
  void leave();

  /// Throws `error` again with the method and `key_template` in its sentence, or the template that
  /// a policy puts in the place of that.
  [[noreturn]] void name(const KeyError& error, Site& site, std::string_view key_template);

  /// In a catch block of a call that never throws: what the error counts as. Neither a timeout nor
  /// ignorance: the listener is told.
  [[nodiscard]] static Entry failed(const Locks* locks, LockType type, const Site& site) noexcept;

  [[nodiscard]] Hold* hold() noexcept { return hold_ ? &*hold_ : nullptr; }
  [[nodiscard]] const Hold* hold() const noexcept { return hold_ ? &*hold_ : nullptr; }
  /// Empty where several keys are held: the hold knows them.
  [[nodiscard]] std::string_view key() const noexcept { return key_; }
  /// Holds `key`, given without the prefix, among others maybe.
  [[nodiscard]] bool covers(std::string_view key) const;
  [[nodiscard]] LockedCall* outer() const noexcept { return outer_; }
  /// Where it was written, and from what its key was made; known from `enter` on.
  [[nodiscard]] const Origin& origin() const noexcept { return origin_; }
  [[nodiscard]] const Locks* locks() const noexcept { return locks_; }
  [[nodiscard]] static LockedCall* innermost() noexcept;

 private:
  [[nodiscard]] const SitePolicy* take(std::uint32_t slot) noexcept;
  [[nodiscard]] Entry decide(Entry entry) noexcept;
  template <class Acquire>
  [[nodiscard]] Entry enter_by(Acquire acquire, std::string_view key_template, Site& site);
  [[nodiscard]] Entry acquire(const Locks& locks);
  [[nodiscard]] Entry acquire_all(const std::vector<std::string>& keys);
  void release(std::chrono::milliseconds linger);
  void link() noexcept;
  void unlink() noexcept;
  void end() noexcept;

  const LockTerms* terms_;
  const Locks* locks_;
  const std::stop_token* cancel_;
  std::string_view key_{};  // of several keys empty: the hold knows them
  Origin origin_{};
  // Destroyed by end() and leave(), both out of line: an engaged one is always linked. Without this
  // every decorated place would carry the code that destroys a hold.
  union {
    std::optional<Hold> hold_;
  };
  // Written only where a policy speaks.
  union {
    LockTerms changed_;
  };
  Clock::time_point entered_{};  ///< read only where `hold_for` asks for it
  LockedCall* outer_ = nullptr;
  bool linked_ = false;
};

}  // namespace detail
}  // namespace latchkey
