// One LOCKED at one place: its site, and the call of its body.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <exception>
#include <new>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <latchkey/aspect.hpp>
#include <latchkey/detail/locked/body_kind.hpp>
#include <latchkey/detail/locked/checks.hpp>
#include <latchkey/detail/locked/key_set.hpp>
#include <latchkey/detail/locked/locked_call.hpp>
#include <latchkey/detail/locked/locked_site.hpp>
#include <latchkey/detail/locked/outcomes.hpp>
#include <latchkey/detail/locked/run.hpp>
#include <latchkey/error.hpp>
#include <latchkey/for_scope.hpp>
#include <latchkey/key_schema.hpp>
#include <latchkey/lock_options.hpp>
#include <latchkey/site.hpp>
#include <latchkey/strategy.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

template <class Text>
inline constexpr bool is_by_policy = false;
template <class Text>
inline constexpr bool is_by_policy<ByPolicy<Text>> = true;

/// The name of a strategy that is written in code.
template <class Strategy>
inline constexpr const char* strategy_name = "";
template <>
inline constexpr const char* strategy_name<strategy::Skip> = "skip";
template <class Value>
inline constexpr const char* strategy_name<strategy::SkipWith<Value>> = "skip_with";
template <class Function>
inline constexpr const char* strategy_name<strategy::Fallback<Function>> = "fallback";
template <>
inline constexpr const char* strategy_name<strategy::RunUnlocked> = "run_unlocked_dangerously";
template <>
inline constexpr const char* strategy_name<strategy::Report> = "report";

template <class Options, class Result, class Text, class Where>
inline constexpr LockTraits lock_traits{
    .by_policy = is_by_policy<Text>,
    .can_be_skipped = can_be_skipped<BodyResult<Result>>(),
    .never_throws = Options::never_throws,
    .says_timeout = !std::is_same_v<typename Options::Timeout, strategy::Raise>,
    .says_unavailable = !std::is_same_v<typename Options::Unavailable, strategy::Raise>,
    .for_scope = is_for_scope<Where>,
    .on_timeout = strategy_name<typename Options::Timeout>,
    .on_unavailable = strategy_name<typename Options::Unavailable>,
    .on_lost = Options::raises_loss ? "raise" : strategy_name<typename Options::Lost>};

/// Links a site into the list of sites. Annotations, whose sites have several users, overload it.
template <class Result>
bool link_site(const void* /*where*/, Site& site) noexcept {
  return register_site(site);
}

/// The part of Locked that does not depend on the place.
template <class Settings>
struct LockedAspect : Aspect {
  LockOptions<Settings> options;

  static constexpr bool takes_lock = true;
  static constexpr std::string_view fixed_site_name() noexcept {
    return LockOptions<Settings>::fixed_name();
  }
};

/// Room for what a coroutine awaits: it must live until the end of the expression, as the Ready
/// does. Other bodies leave it uninitialised.
class OperationRoom {
 public:
  OperationRoom() noexcept {}  // NOLINT(*-member-init,modernize-use-equals-default): costs nothing

  template <class Operation, class... Arguments>
  Operation* emplace(Arguments&&... arguments) noexcept {
    static_assert(sizeof(Operation) <= sizeof(bytes_) &&
                  std::is_trivially_destructible_v<Operation>);
    return ::new (static_cast<void*>(bytes_)) Operation(std::forward<Arguments>(arguments)...);
  }

 private:
  alignas(void*) std::byte bytes_[3 * sizeof(void*)];
};

/// The part of Ready that does not depend on the place.
template <class Settings>
struct LockedReady {
  const LockedAspect<Settings>& decorator;
  const void* const* addresses;
  Site* outer = nullptr;  ///< the site of the aspect around this LOCKED
  [[no_unique_address]] OperationRoom operation{};
};

/// Marks a LOCKED inside another aspect, which has the site of the call.
template <class Where>
struct Inside : Where {};
template <class Where>
inline constexpr bool is_inside = false;
template <class Where>
inline constexpr bool is_inside<Inside<Where>> = true;

template <class Text, class Settings>
struct ReadyDecorator<const Locked<Text, Settings>> : std::type_identity<Locked<Text, Settings>> {};

/// The call of a LOCKED. Everything here exists once per place: what does not depend on the types
/// of the place is in LockedCall.
template <class Text, class Settings, class Where, class... Arguments>
struct Ready<Locked<Text, Settings>, Where, Arguments...> : LockedReady<Settings> {
  using Options = LockOptions<Settings>;
  using CallOfPlace = PlacedCall<Where, Arguments...>;
  using Key = LockedKeyOf<Text, Where, std::remove_cv_t<Arguments>...>;
  using KeyChecks = KeyCheck<typename Key::Verdict>;

  template <class Result>
  static inline constinit typename Key::Site site{Where{}(),
                                                  Options::fixed_name().data(),
                                                  site_types<Result, Arguments...>,
                                                  type_infos<std::remove_cv_t<Arguments>...>,
                                                  Key::key(),
                                                  lock_traits<Options, Result, Text, Where>,
                                                  Text{}().terms};
  template <class Result>
  static inline const bool registered =
      link_site<Result>(static_cast<Where*>(nullptr), site<Result>);

  template <class Result>
  static void enroll() noexcept {
    static_cast<void>(&registered<Result>);
  }

  /// Enters the lock, or the body without it where the options say so: `held` means that the body
  /// runs.
  template <class Result>
  [[nodiscard, gnu::always_inline]] Entry enter(LockedCall& locked) const {
    if constexpr (Options::always_runs) {
      return locked.enter(site<Result>, own_site<Result>(), this->addresses);
    } else {
      const Entry entry =
          enter_if_wanted(this->decorator.options, locked, site<Result>, call<Result>());
      if (entry != Entry::unneeded && !(Options::can_run_unlocked && entry == Entry::timeout)) {
        return entry;
      }
      locked.enter_unlocked();
      return Entry::held;
    }
  }

  /// The result of a call whose body does not run.
  template <class Result>
  [[gnu::always_inline]] Result without_body(Entry why) const {
    if constexpr (can_be_skipped<Result>()) {
      // With these options only a policy can let a call continue without its lock.
      if (Options::always_runs || why == Entry::skipped_timeout ||
          why == Entry::skipped_unavailable) {
        return skipped<Result>(why);
      }
    }
    if constexpr (Options::always_runs) {
      std::terminate();  // not reached: a policy cannot skip this body
    } else {
      return run_nothing<Result>(this->decorator.options, why, call<Result>());
    }
  }

  /// Runs the body under the lock.
  template <class Body>
  [[nodiscard(
        "latchkey: the result of this body is thrown away: write return LOCKED(...) AROUND(...) { "
        "... }; or return nothing in the body"),
    gnu::always_inline]] auto
  operator&&(Body&& body) && -> decltype(body()) {
    using Result = decltype(body());
    // Before anything else is instantiated, and not in a function of their own: see OptionsCheck.
    using Checks = OptionsCheck<Result, Options, noexcept(body()), std::remove_cv_t<Arguments>...>;
    static_assert(Checks::run());
    static_assert(KeyChecks::run());
    if constexpr (!Options::always_asked) {
      static_assert(Options::When::template check<Where, std::remove_cv_t<Arguments>...>());
    }
    if constexpr (!is_inside<Where>) static_cast<void>(&registered<Result>);
    LockedCall locked(this->decorator.options);
    if constexpr (Options::always_runs && !can_be_skipped<Result>()) {
      static_cast<void>(enter<Result>(locked));
    } else {
      const Entry entry = enter<Result>(locked);
      if (entry != Entry::held) return without_body<Result>(entry);
    }
    try {
      if constexpr (std::is_void_v<Result>) {
        body();
        locked.leave();
      } else if constexpr (std::is_reference_v<Result>) {
        Result result = body();
        locked.leave();
        return static_cast<Result>(result);
      } else if constexpr (std::is_move_constructible_v<Result>) {
        Result result = body();
        locked.leave();
        return result;
      } else {
        const LeaveAtEnd leave(locked);
        return body();
      }
    } catch (const Error&) {
      rethrow_from_body();
    }
  }

  /// For a body that is a coroutine.
  template <class Body>
    requires BodyKind<std::invoke_result_t<Body&>>::is_coroutine
  [[nodiscard(
      "latchkey: nothing has run yet: a coroutine is awaited: co_await (LOCKED(...) AROUND(...) -> "
      "asio::awaitable<T> { ... })")]] auto
  operator&&(Body&& body) && -> typename BodyKind<std::invoke_result_t<Body&>>::template Answer<
      Ready, std::remove_reference_t<Body>> {
    using Kind = BodyKind<std::invoke_result_t<Body&>>;
    using Checks =
        OptionsCheck<typename Kind::Result, Options, false, std::remove_cv_t<Arguments>...>;
    static_assert(Checks::run());
    static_assert(KeyChecks::run());
    if constexpr (!Options::always_asked) {
      static_assert(Options::When::template check<Where, std::remove_cv_t<Arguments>...>());
    }
    enroll<std::invoke_result_t<Body&>>();
    return Kind::run(*this, body);
  }

  /// Moves the arguments out of a DECORATED, whose parameters are its own.
  [[nodiscard]] std::tuple<Arguments...> take_arguments() const {
    return take_at(std::index_sequence_for<Arguments...>());
  }

 private:
  template <class Result>
  [[nodiscard, gnu::always_inline]] Site& own_site() const noexcept {
    return is_inside<Where> ? *this->outer : site<Result>;
  }
  template <class Result>
  [[nodiscard, gnu::always_inline]] CallOfPlace call() const noexcept {
    return {{own_site<Result>(), this->addresses}};
  }

  template <std::size_t... Index>
  std::tuple<Arguments...> take_at(std::index_sequence<Index...>) const {
    return std::tuple<Arguments...>(
        std::move(*static_cast<Arguments*>(const_cast<void*>(this->addresses[Index])))...);
  }
};

/// The compile error of a LOCKED around a coroutine and inside another aspect.
template <class Result>
struct CompositionCheck {
  static consteval bool run() {
    static_assert(!BodyKind<Result>::is_coroutine,
                  "latchkey: an aspect returns before the coroutine that it is around has run, so "
                  "nothing is composed with LOCKED(...) around a coroutine: nest the coroutines "
                  "instead");
    return true;
  }
};

template <class Text, class Settings, class Result, bool NoThrowBody, class... Arguments>
struct BodyChecksOf<Locked<Text, Settings>, Result, NoThrowBody, Arguments...>
    : SiteChecks<CompositionCheck<Result>,
                 OptionsCheck<Result, LockOptions<Settings>, NoThrowBody, Arguments...>> {};

/// A LOCKED inside another aspect.
template <class Decorator, class Call>
struct InsideOf;
template <class Text, class Settings, class Where, class... Arguments>
struct InsideOf<Locked<Text, Settings>, PlacedCall<Where, Arguments...>> {
  using type = Ready<Locked<Text, Settings>, Inside<Where>, Arguments...>;
  using Key = LockedKeyOf<Text, Inside<Where>, std::remove_cv_t<Arguments>...>;
  static constexpr std::string_view kind = is_by_policy<Text> ? lock_by_kind : lock_kind;
};

template <class Text, class Settings, class Call>
struct KeyChecksOf<Locked<Text, Settings>, Call>
    : SiteChecks<KeyCheck<typename InsideOf<Locked<Text, Settings>, Call>::Key::Verdict>> {};

/// The note of a LOCKED around other aspects that have notes.
template <class Inside, class Result, const SiteNote* Inner>
inline constexpr SiteNote outer_note{Inside::kind, Inside::Key::key().key.text, Inner,
                                     &Inside::type::template site<Result>};

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop
