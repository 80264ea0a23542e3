// What is said behind LOCKED: a type of its own for whatever changes what is compiled.
#pragma once

#include <chrono>
#include <cstddef>
#include <stop_token>
#include <type_traits>
#include <utility>

#include <latchkey/attempt.hpp>
#include <latchkey/fixed_string.hpp>
#include <latchkey/locked/checks.hpp>
#include <latchkey/locked/condition.hpp>
#include <latchkey/locked/locked_call.hpp>
#include <latchkey/strategy.hpp>

namespace latchkey {

class Locks;

namespace detail {

/// The default Locks.
struct Installed {
  [[nodiscard]] static const Locks* get() noexcept { return nullptr; }
};
struct Borrowed {
  const Locks* locks;
  [[nodiscard]] const Locks* get() const noexcept { return locks; }
};
/// `Kept` is Locks, which is complete wherever somebody has one to keep.
template <class Kept>
struct Owned {
  Kept locks;
  [[nodiscard]] const Locks* get() const noexcept { return &locks; }
};

struct NeverCancelled {
  [[nodiscard]] static const std::stop_token* get() noexcept { return nullptr; }
};
struct CancelledBy {
  std::stop_token token;
  [[nodiscard]] const std::stop_token* get() const noexcept { return &token; }
};

/// Throws std::invalid_argument where the lease is shorter.
void check_hold_for(std::chrono::milliseconds time, Lease lease);

/// What was said that changes what is compiled.
template <class PlaceType, class TimeoutType, class UnavailableType, class WhenType,
          class CancelType, bool NoThrow, FixedString Name, bool RaisesLoss = false>
struct SetOptions {
  using Place = PlaceType;
  using Timeout = TimeoutType;
  using Unavailable = UnavailableType;
  using When = WhenType;
  using Cancel = CancelType;
  static constexpr bool no_throw = NoThrow;
  static constexpr bool raises_loss = RaisesLoss;
  static constexpr auto name = Name;

  template <class New>
  using with_place = SetOptions<New, Timeout, Unavailable, When, Cancel, NoThrow, Name, RaisesLoss>;
  template <class New>
  using with_timeout = SetOptions<Place, New, Unavailable, When, Cancel, NoThrow, Name, RaisesLoss>;
  template <class New>
  using with_unavailable = SetOptions<Place, Timeout, New, When, Cancel, NoThrow, Name, RaisesLoss>;
  template <class New>
  using with_condition =
      SetOptions<Place, Timeout, Unavailable, New, Cancel, NoThrow, Name, RaisesLoss>;
  template <class New>
  using with_cancel = SetOptions<Place, Timeout, Unavailable, When, New, NoThrow, Name, RaisesLoss>;
  template <FixedString New>
  using with_name = SetOptions<Place, Timeout, Unavailable, When, Cancel, NoThrow, New, RaisesLoss>;
  using with_no_throw =
      SetOptions<Place, std::conditional_t<std::is_same_v<Timeout, Raise>, Skip, Timeout>,
                 std::conditional_t<std::is_same_v<Unavailable, Raise>, Skip, Unavailable>, When,
                 Cancel, true, Name>;
  using with_raised_loss =
      SetOptions<Place, Timeout, Unavailable, When, Cancel, NoThrow, Name, true>;
};

/// Nothing: by a short name, because it is part of the symbols of nearly every site.
struct Plain : SetOptions<Installed, Raise, Raise, Always, NeverCancelled, false, ""> {};

/// A callable that waits for the key that LOCKED gives it.
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

/// What one LOCKED was told apart from its key. Made by `latchkey::terms(type, wait, lease)`;
/// `latchkey::locked<"key">() * terms` is the aspect. Each member is said on a temporary and gives
/// the changed terms; the last of a kind counts.
template <class SetOptions = detail::Plain>
struct [[nodiscard]] LockOptions {
  using Timeout = typename SetOptions::Timeout;
  using Unavailable = typename SetOptions::Unavailable;
  using When = typename SetOptions::When;

  detail::LockTerms terms{};
  [[no_unique_address]] typename SetOptions::Place place{};
  [[no_unique_address]] Timeout timeout{};
  [[no_unique_address]] Unavailable unavailable{};
  [[no_unique_address]] When condition{};
  [[no_unique_address]] typename SetOptions::Cancel cancel{};

  static constexpr bool never_throws = SetOptions::no_throw;
  /// on_lost(raise) stands in code, and not as the default.
  static constexpr bool raises_loss = SetOptions::raises_loss;
  static constexpr bool always_asked = std::is_same_v<When, detail::Always>;
  static constexpr bool can_run_unlocked = std::is_same_v<Timeout, RunUnlocked>;
  /// Whoever gets past the lock runs the body under it.
  static constexpr bool always_runs = !never_throws && always_asked &&
                                      std::is_same_v<Timeout, Raise> &&
                                      std::is_same_v<Unavailable, Raise>;
  static constexpr const char* fixed_name() noexcept {
    return SetOptions::name.size() == 0 ? nullptr : SetOptions::name.data;
  }

  /// In these Locks instead of the default ones. An lvalue is referred to and must outlive the call
  /// (the decorated callable), a temporary is kept.
  auto in(const Locks& locks) && { return in_place(detail::Borrowed{&locks}); }
  template <class Temporary>
    requires(std::is_same_v<Temporary, Locks>)
  auto in(Temporary&& locks) && {
    return in_place(detail::Owned<Locks>{std::forward<Temporary>(locks)});
  }

  /// Only where `wanted` holds; otherwise the body runs without the lock. A bool, or a function
  /// that is called with the arguments of the call, as const, or with none.
  template <class Condition>
  auto when(Condition&& wanted) && {
    if constexpr (std::is_same_v<std::remove_cvref_t<Condition>, bool>) {
      return on_condition(detail::WhenTrue{wanted});
    } else {
      using Predicate = detail::WhenSaid<std::decay_t<Condition>>;
      return on_condition(Predicate{std::forward<Condition>(wanted)});
    }
  }
  /// Only where this key expression gives "true": `.when<"{account.shared}">()`.
  template <FixedString Expression>
  auto when() && {
    return on_condition(detail::WhenKey<Expression>{});
  }

  /// The site's name, instead of the method's. By the second form it is known before main, by the
  /// first from the first call on.
  LockOptions&& named(SiteName name) && {
    terms.name = name;
    return std::move(*this);
  }
  template <FixedString Name>
  auto named() && {
    return LockOptions<typename SetOptions::template with_name<Name>>{terms,
                                                                      std::move(place),
                                                                      std::move(timeout),
                                                                      std::move(unavailable),
                                                                      std::move(condition),
                                                                      std::move(cancel)};
  }

  /// raise, skip, skip_with(value), fallback(function) or run_unlocked_dangerously.
  template <class Strategy>
  auto on_timeout(Strategy strategy) && {
    static_assert(detail::is_entry_strategy<Strategy> || std::is_same_v<Strategy, RunUnlocked>,
                  "latchkey: on_timeout takes raise, skip, skip_with(value), fallback(function) or "
                  "run_unlocked_dangerously");
    terms.raises_timeout = std::is_same_v<Strategy, Raise>;
    terms.says_timeout = true;
    return LockOptions<typename SetOptions::template with_timeout<Strategy>>{terms,
                                                                             std::move(place),
                                                                             std::move(strategy),
                                                                             std::move(unavailable),
                                                                             std::move(condition),
                                                                             std::move(cancel)};
  }

  /// raise, skip, skip_with(value) or fallback(function).
  template <class Strategy>
  auto on_unavailable(Strategy strategy) && {
    static_assert(detail::is_entry_strategy<Strategy>,
                  "latchkey: on_unavailable takes raise, skip, skip_with(value) or "
                  "fallback(function)");
    terms.raises_unavailable = std::is_same_v<Strategy, Raise>;
    terms.says_unavailable = true;
    return LockOptions<typename SetOptions::template with_unavailable<Strategy>>{
        terms,
        std::move(place),
        std::move(timeout),
        std::move(strategy),
        std::move(condition),
        std::move(cancel)};
  }

  /// raise or report.
  template <class Strategy>
  auto on_lost(Strategy) && {
    static_assert(std::is_same_v<Strategy, Raise> || std::is_same_v<Strategy, Report>,
                  "latchkey: on_lost takes raise or report: the body has run already");
    static_assert(!(never_throws && std::is_same_v<Strategy, Raise>),
                  "latchkey: on_lost(raise) throws, and .no_throw() was said before it");
    terms.raises_loss = std::is_same_v<Strategy, Raise>;
    terms.says_lost = true;
    using Lost = std::conditional_t<std::is_same_v<Strategy, Raise>,
                                    typename SetOptions::with_raised_loss, SetOptions>;
    return LockOptions<Lost>{terms,
                             std::move(place),
                             std::move(timeout),
                             std::move(unavailable),
                             std::move(condition),
                             std::move(cancel)};
  }

  /// Nothing of this lock is thrown, as a noexcept body needs it: what is not said otherwise
  /// becomes on_timeout(skip), on_unavailable(skip) and on_lost(report); Cancelled counts as a
  /// timeout, every other error as unavailable.
  auto no_throw() && {
    terms.raises_timeout = terms.raises_unavailable = terms.raises_loss = false;
    terms.says_timeout = terms.says_unavailable = terms.says_lost = true;
    return LockOptions<typename SetOptions::with_no_throw>{terms,
                                                           std::move(place),
                                                           quiet(std::move(timeout)),
                                                           quiet(std::move(unavailable)),
                                                           std::move(condition),
                                                           std::move(cancel)};
  }

  /// A body that is faster leaves the key locked for what remains of `time`; nobody waits for that.
  /// Throws std::invalid_argument where the lease is shorter.
  LockOptions&& hold_for(std::chrono::milliseconds time) && {
    detail::check_hold_for(time, terms.lease);
    terms.hold_for = time;
    terms.says_hold_for = true;
    return std::move(*this);
  }

  /// A stop request ends the wait with Cancelled; it does not reach into the body.
  auto cancel_with(std::stop_token token) && {
    return LockOptions<typename SetOptions::template with_cancel<detail::CancelledBy>>{
        terms,
        std::move(place),
        std::move(timeout),
        std::move(unavailable),
        std::move(condition),
        detail::CancelledBy{std::move(token)}};
  }

  /// `refuse`: WouldDeadlock where the owner holds the key already.
  LockOptions&& reentry(Reentry wanted) && {
    terms.reentry = wanted;
    return std::move(*this);
  }

  /// Form (c): a callable with the same parameters and result that locks at every call.
  template <class Function>
  detail::Applied<LockOptions, std::decay_t<Function>> operator()(Function&& function) && {
    return {std::move(*this), std::forward<Function>(function)};
  }

 private:
  template <class Strategy>
  static auto quiet(Strategy&& strategy) {
    if constexpr (std::is_same_v<Strategy, Raise>) {
      return skip;
    } else {
      return std::forward<Strategy>(strategy);
    }
  }
  template <class New>
  auto in_place(New&& made) {
    return LockOptions<typename SetOptions::template with_place<New>>{terms,
                                                                      std::forward<New>(made),
                                                                      std::move(timeout),
                                                                      std::move(unavailable),
                                                                      std::move(condition),
                                                                      std::move(cancel)};
  }
  template <class New>
  auto on_condition(New&& made) {
    return LockOptions<typename SetOptions::template with_condition<New>>{terms,
                                                                          std::move(place),
                                                                          std::move(timeout),
                                                                          std::move(unavailable),
                                                                          std::forward<New>(made),
                                                                          std::move(cancel)};
  }
};

}  // namespace latchkey
