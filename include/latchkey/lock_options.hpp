// The options after LOCKED(...): .in, .when, .named, .on_timeout and so on.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstddef>
#include <stop_token>
#include <string_view>
#include <type_traits>
#include <utility>

#include <latchkey/attempt.hpp>
#include <latchkey/detail/locked/checks.hpp>
#include <latchkey/detail/locked/condition.hpp>
#include <latchkey/detail/locked/locked_call.hpp>
#include <latchkey/detail/locked/settings.hpp>
#include <latchkey/fixed_string.hpp>
#include <latchkey/strategy.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {
namespace detail {

/// Throws std::invalid_argument if the lease, or its held_at_most, is shorter.
void check_hold_for(std::chrono::milliseconds time, Lease lease);
/// Throws std::invalid_argument if a lease in code, or hold_for, is longer.
void set_held_at_most(LockTerms& terms, std::chrono::milliseconds time);
/// Throws std::invalid_argument for the type READ or PERMIT.
void set_fenced(LockTerms& terms);
/// Throws std::invalid_argument for numbers that make no sense, for a type of a lock, and after
/// fenced().
void set_permits(LockTerms& terms, int total, int taken);

/// A decorated callable without its key: `LOCKED` puts `locked<"key">() *` before it.
template <class Options, class Function>
struct Applied {
  Options options;
  Function function;

  template <class... Arguments>
  auto operator()(Arguments&&...) const {
    static_assert(sizeof...(Arguments) == ~std::size_t{0},
                  "latchkey: to call a decorated callable on the spot, put it in parentheses: "
                  "(LOCKED(key)(function))(arguments)");
    return 0;
  }
};

}  // namespace detail

/// All options of one LOCKED, without its key. Made by `latchkey::terms(type, wait, lease)`;
/// `latchkey::locked<"key">() * terms` is the aspect. Each member function is called on a temporary
/// and returns the changed options; the last call for an option takes effect.
template <class Settings = detail::Plain>
struct [[nodiscard]] LockOptions {
  using Setting = detail::Setting;
  template <Setting setting>
  using Type = typename Settings::template Type<setting>;
  using Timeout = Type<Setting::on_timeout>;
  using Unavailable = Type<Setting::on_unavailable>;
  using Lost = Type<Setting::on_lost>;
  using When = Type<Setting::when>;

  detail::LockTerms terms{};
  [[no_unique_address]] Settings settings{};

  static constexpr bool never_throws = std::is_same_v<Type<Setting::no_throw>, detail::NeverThrows>;
  /// on_lost(raise) is written in code, and not merely the default.
  static constexpr bool raises_loss = std::is_same_v<Type<Setting::on_lost>, strategy::Raise>;
  static constexpr bool raises_unconfirmed =
      std::is_same_v<Type<Setting::on_unconfirmed_release>, strategy::Raise>;
  static constexpr bool always_asked = std::is_same_v<When, detail::Always>;
  static constexpr bool can_run_unlocked = std::is_same_v<Timeout, strategy::RunUnlocked>;
  /// The body runs under the lock, or an error is thrown.
  static constexpr bool always_runs = !never_throws && always_asked &&
                                      std::is_same_v<Timeout, strategy::Raise> &&
                                      std::is_same_v<Unavailable, strategy::Raise>;
  static constexpr std::string_view fixed_name() noexcept { return Type<Setting::named>::get(); }

  /// Null: the default Locks.
  [[nodiscard]] const Locks* locks() const noexcept { return get<Setting::in>().get(); }
  /// Null: nothing ends the wait early.
  [[nodiscard]] const std::stop_token* stop_token() const noexcept {
    return get<Setting::cancel_with>().get();
  }
  [[nodiscard]] const When& condition() const noexcept { return get<Setting::when>(); }
  [[nodiscard]] const Timeout& timeout() const noexcept { return get<Setting::on_timeout>(); }
  [[nodiscard]] const Unavailable& unavailable() const noexcept {
    return get<Setting::on_unavailable>();
  }

  /// Uses these Locks instead of the default ones. An lvalue is used by reference and must outlive
  /// the call (the decorated callable); a temporary is moved.
  constexpr auto in(const Locks& locks) && {
    return replace<Setting::in>(detail::BorrowedLocks{&locks});
  }
  template <class Temporary>
    requires(std::is_same_v<Temporary, Locks>)
  constexpr auto in(Temporary&& locks) && {
    return replace<Setting::in>(detail::OwnedLocks<Locks>{std::forward<Temporary>(locks)});
  }

  /// The body runs under the lock only if `wanted` is true, otherwise without it. `wanted` is a
  /// bool, or a function that is called with the arguments of the call, as const, or with none.
  template <class Condition>
  constexpr auto when(Condition&& wanted) && {
    if constexpr (std::is_same_v<std::remove_cvref_t<Condition>, bool>) {
      return replace<Setting::when>(detail::WhenTrue{wanted});
    } else {
      using Predicate = detail::WhenSaid<std::decay_t<Condition>>;
      return replace<Setting::when>(Predicate{std::forward<Condition>(wanted)});
    }
  }
  /// Like when(wanted), for a key expression that renders to "true": `.when<"{account.shared}">()`.
  template <FixedString Expression>
  constexpr auto when() && {
    return replace<Setting::when>(detail::WhenKey<Expression>{});
  }

  /// The site's name, instead of the method's. The name is known from the first call on; with the
  /// second form it is known before main.
  constexpr LockOptions&& named(SiteName name) && {
    terms.name = name;
    return std::move(*this);
  }
  template <FixedString Name>
  constexpr auto named() && {
    return replace<Setting::named>(detail::FixedName<Name>{});
  }

  /// raise, skip, skip_with(value), fallback(function) or run_unlocked_dangerously.
  template <class Strategy>
  constexpr auto on_timeout(Strategy strategy) && {
    static_assert(
        detail::is_entry_strategy<Strategy> || std::is_same_v<Strategy, strategy::RunUnlocked>,
        "latchkey: on_timeout takes raise, skip, skip_with(value), fallback(function) or "
        "run_unlocked_dangerously");
    terms.raises_timeout = std::is_same_v<Strategy, strategy::Raise>;
    terms.says_timeout = true;
    return replace<Setting::on_timeout>(std::move(strategy));
  }

  /// raise, skip, skip_with(value) or fallback(function).
  template <class Strategy>
  constexpr auto on_unavailable(Strategy strategy) && {
    static_assert(detail::is_entry_strategy<Strategy>,
                  "latchkey: on_unavailable takes raise, skip, skip_with(value) or "
                  "fallback(function)");
    terms.raises_unavailable = std::is_same_v<Strategy, strategy::Raise>;
    terms.says_unavailable = true;
    return replace<Setting::on_unavailable>(std::move(strategy));
  }

  /// raise or report.
  template <class Strategy>
  constexpr auto on_lost(Strategy strategy) && {
    static_assert(
        std::is_same_v<Strategy, strategy::Raise> || std::is_same_v<Strategy, strategy::Report>,
        "latchkey: on_lost takes raise or report: the body has run already");
    static_assert(!(never_throws && std::is_same_v<Strategy, strategy::Raise>),
                  "latchkey: on_lost(raise) throws, and .no_throw() was said before it");
    terms.raises_loss = std::is_same_v<Strategy, strategy::Raise>;
    terms.says_lost = true;
    return replace<Setting::on_lost>(strategy);
  }

  /// report, the default, or raise: what the call does if its body has run and the backend did not
  /// confirm the release. The lock ends with its lease at the latest, whatever the caller does.
  /// With raise the call throws ReleaseUnconfirmed or BackendRefused instead of returning its
  /// result.
  template <class Strategy>
  constexpr auto on_unconfirmed_release(Strategy strategy) && {
    static_assert(
        std::is_same_v<Strategy, strategy::Raise> || std::is_same_v<Strategy, strategy::Report>,
        "latchkey: on_unconfirmed_release takes report or raise: the body has run already");
    static_assert(!(never_throws && std::is_same_v<Strategy, strategy::Raise>),
                  "latchkey: on_unconfirmed_release(raise) throws, and .no_throw() was said before "
                  "it");
    terms.raises_unconfirmed = std::is_same_v<Strategy, strategy::Raise>;
    terms.says_unconfirmed = true;
    return replace<Setting::on_unconfirmed_release>(strategy);
  }

  /// This lock throws nothing, as a noexcept body requires. Options that are not set become
  /// on_timeout(skip), on_unavailable(skip) and on_lost(report). Cancelled counts as a timeout,
  /// every other error as unavailable.
  constexpr auto no_throw() && {
    terms.raises_timeout = terms.raises_unavailable = terms.raises_loss = false;
    terms.raises_unconfirmed = false;
    terms.says_timeout = terms.says_unavailable = terms.says_lost = terms.says_unconfirmed = true;
    return replace<Setting::no_throw>(detail::NeverThrows{})
        .template replace<Setting::on_lost>(strategy::report)
        .template skip_by_default<Setting::on_timeout>()
        .template skip_by_default<Setting::on_unavailable>();
  }

  /// If the body is faster than `time`, the key stays locked for the rest of it; no thread waits
  /// for that. Throws std::invalid_argument if the lease, or held_at_most, is shorter.
  LockOptions&& hold_for(std::chrono::milliseconds time) && {
    detail::check_hold_for(time, terms.lease);
    terms.hold_for = time;
    terms.says_hold_for = true;
    return std::move(*this);
  }

  /// The lock is lost at the latest `time` after its grant, although the watchdog renews the lease:
  /// a body that hangs does not keep the lock for ever (Lease::held_at_most). The loss is as every
  /// other, and LockLost::held_too_long tells it. A lease that is not the watchdog's is not made
  /// longer: write LOCKED(key, type, wait, latchkey::watchdog). Throws std::invalid_argument if
  /// the lease in LOCKED or hold_for is longer, or `time` is not from 10 ms to 10 years.
  LockOptions&& held_at_most(std::chrono::milliseconds time) && {
    detail::set_held_at_most(terms, time);
    return std::move(*this);
  }

  template <class Number>
    requires(std::is_arithmetic_v<Number>)
  LockOptions&& held_at_most(Number) && {
    static_assert(sizeof(Number) == ~std::size_t{0},
                  "latchkey: held_at_most takes a time with a unit: write 10min (using namespace "
                  "std::chrono_literals) or std::chrono::minutes(10), not a bare number");
    return std::move(*this);
  }

  /// Nobody is granted the lock for `time` after it was lost: for a resource that checks no fencing
  /// token (Lease::lock_delay). A release frees it at once. Throws std::invalid_argument if `time`
  /// is not from 10 ms to 24 hours; the call throws it at a backend that cannot keep a lock so.
  LockOptions&& lock_delay(std::chrono::milliseconds time) && {
    terms.lease = terms.lease.lock_delay(time);
    return std::move(*this);
  }

  template <class Number>
    requires(std::is_arithmetic_v<Number>)
  LockOptions&& lock_delay(Number) && {
    static_assert(sizeof(Number) == ~std::size_t{0},
                  "latchkey: lock_delay takes a time with a unit: write 5s (using namespace "
                  "std::chrono_literals) or std::chrono::seconds(5), not a bare number");
    return std::move(*this);
  }

  /// For how long this process keeps the lock after its release, unless another one waits for it,
  /// so that the next call here takes it without asking the server: Options::cache for this method
  /// alone. 0: it is given back at once. Throws std::invalid_argument if `time` is not from 0 to
  /// 10 s, nor adaptive_cache; the call throws it for a FAIR lock or a semaphore, and at a backend
  /// that does not tell of those who wait.
  LockOptions&& cache(std::chrono::milliseconds time) && {
    terms.lease = terms.lease.cache(time);
    return std::move(*this);
  }

  template <class Number>
    requires(std::is_arithmetic_v<Number>)
  LockOptions&& cache(Number) && {
    static_assert(sizeof(Number) == ~std::size_t{0},
                  "latchkey: cache takes a time with a unit: write 100ms (using namespace "
                  "std::chrono_literals) or std::chrono::milliseconds(100), not a bare number");
    return std::move(*this);
  }

  /// The hold has a fencing token, Hold::fence, whatever its type: WRITE, FAIR, and each key of
  /// KEYS. With REENTRANT, the default, it is a FENCED lock. Throws std::invalid_argument after the
  /// type READ or PERMIT, which have none; READ that LOCKED names does not compile. The call throws
  /// it if the backend gives no tokens to this type (Capabilities::tokens).
  LockOptions&& fenced() && {
    static_assert(!std::is_same_v<Type<Setting::permits>, detail::IsRead>,
                  "latchkey: a READ has no fencing token, because several hold it at a time: write "
                  ".fenced() at the LOCKED that takes the WRITE");
    detail::set_fenced(terms);
    return std::move(*this);
  }

  /// A stop request ends the wait with Cancelled; it does not affect the body.
  auto cancel_with(std::stop_token token) && {
    return replace<Setting::cancel_with>(detail::CancelledBy{std::move(token)});
  }

  /// The key is a semaphore of `total` permits (Locks::semaphore), of which each call takes
  /// `taken`, instead of a lock. A nested call takes permits of its own. Throws
  /// std::invalid_argument if `taken` is below 1 or above `total`, and after the type of a lock
  /// that is a variable; a type that LOCKED names does not compile.
  LockOptions&& permits(int total, int taken = 1) && {
    static_assert(std::is_same_v<Type<Setting::permits>, detail::MayBeSemaphore>,
                  "latchkey: .permits(n) makes the key a semaphore, and the type in LOCKED is that "
                  "of a lock: write LockType::PERMIT, or no type");
    detail::set_permits(terms, total, taken);
    return std::move(*this);
  }

  /// `refuse`: throws WouldDeadlock if the owner holds the key already.
  constexpr LockOptions&& reentry(Reentry wanted) && {
    terms.reentry = wanted;
    return std::move(*this);
  }

  /// `LOCKED(...)(function)`: a callable with the same parameters and result that locks at every
  /// call.
  template <class Function>
  detail::Applied<LockOptions, std::decay_t<Function>> operator()(Function&& function) && {
    return {std::move(*this), std::forward<Function>(function)};
  }

 private:
  template <class Other>
  friend struct LockOptions;

  template <Setting setting>
  [[nodiscard]] const Type<setting>& get() const noexcept {
    return settings.template get<setting>();
  }

  template <Setting setting, class Value>
  constexpr auto replace(Value value) {
    auto changed = std::move(settings).template replace<setting>(std::move(value));
    return LockOptions<decltype(changed)>{terms, std::move(changed)};
  }

  template <Setting setting>
  constexpr auto skip_by_default() {
    if constexpr (std::is_same_v<Type<setting>, strategy::Raise>) {
      return replace<setting>(strategy::skip);
    } else {
      return std::move(*this);
    }
  }
};

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
// tidy: long-file because each option of LOCKED has a member
