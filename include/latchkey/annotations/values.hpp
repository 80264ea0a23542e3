// The values of annotations: what [[=latchkey::locked(...)]] keeps, as constants.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <latchkey/detail/annotations/constants.hpp>
#include <latchkey/detail/locked/checks.hpp>
#include <latchkey/detail/locked/condition.hpp>
#include <latchkey/detail/locked/key_text.hpp>
#include <latchkey/detail/locked/settings.hpp>
#include <latchkey/fixed_string.hpp>
#include <latchkey/lock_type.hpp>
#include <latchkey/locked.hpp>
#include <latchkey/once_per.hpp>
#include <latchkey/strategy.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {
/// The value of `latchkey::locked("key", type, wait, lease)` in an annotation: the options of one
/// LOCKED as a constant. Each member function returns the changed annotation, as those of
/// LockOptions do for LOCKED; cancel_with is missing, because no std::stop_token is a constant.
/// Options that cannot be right are a compile error at the annotation.
///
/// A structural type: its members are public only because the language requires it.
template <class Timeout = strategy::Raise, class Unavailable = strategy::Raise,
          class Lost = detail::RaiseByDefault, class When = detail::Always,
          bool never_throws = false>
struct LockAnnotation : detail::AnnotationValue {
  detail::LockConstants said{};
  Timeout timeout{};
  Unavailable unavailable{};
  When condition{};

  /// raise, skip, skip_with(value), fallback(function) or run_unlocked_dangerously.
  template <class Strategy>
  consteval auto on_timeout(Strategy strategy) const {
    static_assert(
        detail::is_entry_strategy<Strategy> || std::is_same_v<Strategy, strategy::RunUnlocked>,
        "latchkey: on_timeout takes raise, skip, skip_with(value), fallback(function) or "
        "run_unlocked_dangerously");
    static_assert(!never_throws || !std::is_same_v<Strategy, strategy::Raise>,
                  "latchkey: on_timeout(raise) throws, and .no_throw() was said before it");
    LockAnnotation<Strategy, Unavailable, Lost, When, never_throws> changed{
        {}, said, strategy, unavailable, condition};
    changed.said.says_timeout = true;
    return changed;
  }

  /// raise, skip, skip_with(value) or fallback(function).
  template <class Strategy>
  consteval auto on_unavailable(Strategy strategy) const {
    static_assert(detail::is_entry_strategy<Strategy>,
                  "latchkey: on_unavailable takes raise, skip, skip_with(value) or "
                  "fallback(function)");
    static_assert(!never_throws || !std::is_same_v<Strategy, strategy::Raise>,
                  "latchkey: on_unavailable(raise) throws, and .no_throw() was said before it");
    LockAnnotation<Timeout, Strategy, Lost, When, never_throws> changed{
        {}, said, timeout, strategy, condition};
    changed.said.says_unavailable = true;
    return changed;
  }

  /// raise or report.
  template <class Strategy>
  consteval auto on_lost(Strategy) const {
    static_assert(
        std::is_same_v<Strategy, strategy::Raise> || std::is_same_v<Strategy, strategy::Report>,
        "latchkey: on_lost takes raise or report: the body has run already");
    static_assert(!never_throws || !std::is_same_v<Strategy, strategy::Raise>,
                  "latchkey: on_lost(raise) throws, and .no_throw() was said before it");
    LockAnnotation<Timeout, Unavailable, Strategy, When, never_throws> changed{
        {}, said, timeout, unavailable, condition};
    changed.said.says_lost = true;
    return changed;
  }

  /// raise or report, as LockOptions::on_unconfirmed_release.
  template <class Strategy>
  consteval LockAnnotation on_unconfirmed_release(Strategy) const {
    static_assert(
        std::is_same_v<Strategy, strategy::Raise> || std::is_same_v<Strategy, strategy::Report>,
        "latchkey: on_unconfirmed_release takes report or raise: the body has run already");
    static_assert(!never_throws || !std::is_same_v<Strategy, strategy::Raise>,
                  "latchkey: on_unconfirmed_release(raise) throws, and .no_throw() was said before "
                  "it");
    LockAnnotation changed = *this;
    changed.said.says_unconfirmed = true;
    changed.said.raises_unconfirmed = std::is_same_v<Strategy, strategy::Raise>;
    return changed;
  }

  /// As LockOptions::no_throw.
  consteval auto no_throw() const {
    return LockAnnotation<Timeout, Unavailable, Lost, When, true>{
        {}, said, timeout, unavailable, condition};
  }

  /// A function that is called with the arguments of the call, as const, or with none: the body
  /// runs under the lock only if it returns true.
  template <class Condition>
  consteval auto when(Condition wanted) const {
    return LockAnnotation<Timeout, Unavailable, Lost, detail::WhenSaid<Condition>, never_throws>{
        {}, said, timeout, unavailable, {wanted}};
  }
  /// A key expression that renders to "true": `.when<"{account.shared}">()`.
  template <FixedString Expression>
  consteval auto when() const {
    return LockAnnotation<Timeout, Unavailable, Lost, detail::WhenKey<Expression>, never_throws>{
        {}, said, timeout, unavailable, {}};
  }

  /// The site's name, instead of the function's. Known before main.
  consteval LockAnnotation named(std::string_view name) const {
    LockAnnotation changed = *this;
    changed.said.name = detail::constant_text(name);
    return changed;
  }

  /// Uses these Locks, which must have static storage duration, instead of the default ones.
  consteval LockAnnotation in(const Locks& locks) const {
    LockAnnotation changed = *this;
    changed.said.locks = &locks;
    return changed;
  }

  /// As LockOptions::hold_for.
  consteval LockAnnotation hold_for(std::chrono::milliseconds time) const {
    LockAnnotation changed = *this;
    const std::int64_t lease = said.says_lease ? said.lease : detail::constant_lease(default_lease);
    if (time.count() < 0) detail::reject_annotation("hold_for takes a time that is not negative");
    if (lease != detail::no_limit && time.count() > lease) {
      detail::reject_annotation("hold_for is longer than the lease, which would end before it");
    }
    if (said.held_at_most != 0 && time.count() > said.held_at_most) {
      detail::reject_annotation("hold_for is longer than held_at_most, which would end it before");
    }
    changed.said.hold_for = time.count();
    changed.said.says_hold_for = true;
    return changed;
  }

  /// As LockOptions::held_at_most.
  consteval LockAnnotation held_at_most(std::chrono::milliseconds time) const {
    LockAnnotation changed = *this;
    if (time.count() < 10) detail::reject_annotation("held_at_most takes a time of at least 10 ms");
    if (said.says_lease && said.lease != detail::no_limit && said.lease > time.count()) {
      detail::reject_annotation(
          "the lease is longer than held_at_most allows: write a shorter lease, or "
          "latchkey::watchdog");
    }
    if (said.hold_for > time.count()) {
      detail::reject_annotation("hold_for is longer than held_at_most, which would end it before");
    }
    changed.said.held_at_most = time.count();
    return changed;
  }

  /// As LockOptions::lock_delay.
  consteval LockAnnotation lock_delay(std::chrono::milliseconds time) const {
    LockAnnotation changed = *this;
    if (time.count() < 10 || time > detail::longest_lock_delay) {
      detail::reject_annotation("lock_delay takes a time from 10 ms to 24 hours");
    }
    changed.said.lock_delay = time.count();
    return changed;
  }

  /// As LockOptions::cache.
  consteval LockAnnotation cache(std::chrono::milliseconds time) const {
    LockAnnotation changed = *this;
    if (!detail::is_cache(time)) {
      detail::reject_annotation(
          "cache takes a time from 0, for none, to 10 s, or latchkey::adaptive_cache");
    }
    if (said.permits != 0 || (said.says_type && !detail::can_be_kept(said.type))) {
      detail::reject_annotation(
          "FAIR locks and semaphores are not kept after their release: write .cache(d) with "
          "another type, or none");
    }
    changed.said.cache = time.count();
    return changed;
  }

  /// As LockOptions::fenced.
  consteval LockAnnotation fenced() const {
    LockAnnotation changed = *this;
    if (said.permits != 0 || (said.says_type && is_shared(said.type))) {
      detail::reject_annotation(
          "a READ and a PERMIT have no fencing token, because several hold it at a time: write "
          ".fenced() where the WRITE is taken");
    }
    changed.said.fenced = true;
    return changed;
  }

  /// As LockOptions::permits.
  consteval LockAnnotation permits(int total, int taken = 1) const {
    LockAnnotation changed = *this;
    if (said.fenced) {
      detail::reject_annotation(
          ".permits(n) makes the key a semaphore, whose permits have no fencing token: write no "
          ".fenced()");
    }
    if (said.says_type && said.type != LockType::PERMIT) {
      detail::reject_annotation(
          ".permits(n) makes the key a semaphore, and the type in locked(...) is that of a lock: "
          "write LockType::PERMIT, or no type");
    }
    if (total < 1 || taken < 1 || taken > total) {
      detail::reject_annotation(
          ".permits(total, taken) needs 1 <= taken <= total: a call takes `taken` permits of "
          "`total`");
    }
    changed.said.permits = total;
    changed.said.permits_taken = taken;
    return changed;
  }

  /// As LockOptions::reentry.
  consteval LockAnnotation reentry(Reentry wanted) const {
    LockAnnotation changed = *this;
    changed.said.reentry = wanted;
    return changed;
  }

  template <class... T>
  consteval LockAnnotation cancel_with(const T&...) const {
    static_assert(sizeof...(T) == ~std::size_t{0},
                  "latchkey: an annotation is a constant, and a std::stop_token is none: write "
                  "LOCKED(...).cancel_with(token) AROUND(arguments) { body } in this function");
    return *this;
  }
};

/// `[[=latchkey::locked("account:{account.id}", LockType::WRITE, 3s, 30s)]]`: the function runs
/// under this lock, if it is called through latchkey::Annotated or its body begins with
/// LOCK_ANNOTATED. The terms are those of LOCKED.
template <std::size_t N, class... Terms>
consteval LockAnnotation<> locked(const char (&key)[N], const Terms&... terms) {
  const std::string_view text(key, N - 1);
  if (text.find(detail::between_keys) != text.npos) detail::a_key_has_no_zero_byte();
  const detail::LockConstants said{.key = detail::constant_text(text),
                                   .parsed = detail::parse_annotation_key(text)};
  return {{}, detail::lock_constants(said, terms...)};
}
/// Several keys: `latchkey::locked(KEYS("a:{from.id}", "a:{to.id}"))`.
template <std::size_t N, class... Terms>
consteval LockAnnotation<> locked(const detail::KeyList<N>& keys, const Terms&... terms) {
  const std::string_view all = keys.joined.view();
  for (std::size_t begin = 0; begin <= all.size();) {
    const std::size_t end = std::min(all.find(detail::between_keys, begin), all.size());
    static_cast<void>(detail::parse_annotation_key(all.substr(begin, end - begin)));
    begin = end + 1;
  }
  const detail::LockConstants said{.key = detail::constant_text(all),
                                   .source = detail::KeySource::list};
  return {{}, detail::lock_constants(said, terms...)};
}
template <class Key, class... Terms>
  requires(!detail::is_key_list<Key> && !std::is_array_v<Key>)
consteval LockAnnotation<> locked(const Key&, const Terms&...) {
  static_assert(detail::never<Key>,
                "latchkey: the key of locked is a literal, as in "
                "[[=latchkey::locked(\"account:{account.id}\")]]; what changes goes into braces");
  return {};
}
template <class T = void>
consteval LockAnnotation<> locked() {
  static_assert(detail::never<T>,
                "latchkey: locked needs a key, as in "
                "[[=latchkey::locked(\"account:{account.id}\")]]");
  return {};
}

/// `[[=latchkey::locked_by("money")]]`: the policy of that name supplies the key and all terms, as
/// for LOCKED_BY.
template <std::size_t N>
consteval LockAnnotation<> locked_by(const char (&policy)[N]) {
  if (N <= 1) {
    detail::reject_annotation(
        "locked_by needs the name of a policy, as in [[=latchkey::locked_by(\"money\")]]");
  }
  return {{}, {.key = detail::constant_text({policy, N - 1}), .source = detail::KeySource::policy}};
}
template <std::size_t N, class Second, class... More>
consteval LockAnnotation<> locked_by(const char (&)[N], const Second&, const More&...) {
  static_assert(detail::never<Second>,
                "latchkey: locked_by takes the name of a policy and nothing else: key, type, wait "
                "and lease stand in latchkey.yaml, under policies");
  return {};
}

/// The value of `latchkey::once_per("report", 24h)` in an annotation. Times in milliseconds.
struct OnceAnnotation : detail::AnnotationValue {
  detail::ConstantText key{};
  std::int64_t period = 0;
  std::int64_t offset = 0;
  std::int64_t clock_error = 1000;
  std::int64_t start_within = detail::no_limit;
  std::int64_t wait = 0;
  OnFailure on_failure = OnFailure::retry;
  const Locks* locks = nullptr;

  /// Uses these Locks, which must have static storage duration, instead of the default ones.
  consteval OnceAnnotation in(const Locks& other) const {
    OnceAnnotation changed = *this;
    changed.locks = &other;
    return changed;
  }
};

/// `[[=latchkey::once_per("report", 15min)]]`: the function runs at most once for each instant, as
/// under LOCKED_ONCE_PER.
template <std::size_t N, class Period>
consteval OnceAnnotation once_per(const char (&key)[N], const Period& period,
                                  const OncePerOptions& options = {}) {
  static_assert(!std::is_arithmetic_v<Period>,
                "latchkey: a period has a unit: write 15min (using namespace "
                "std::chrono_literals) or std::chrono::hours(1), not a bare number");
  OnceAnnotation once;
  static_cast<void>(detail::parse_annotation_key({key, N - 1}));
  once.key = detail::constant_text({key, N - 1});
  if constexpr (!std::is_arithmetic_v<Period>) {
    once.period = std::chrono::milliseconds(period).count();
  }
  once.offset = options.offset.count();
  once.clock_error = options.clock_error.count();
  if (options.start_within) once.start_within = options.start_within->count();
  once.wait = detail::constant_wait(options.wait);
  once.on_failure = options.on_failure;
  return once;
}

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
// tidy: long-file because each option of LOCKED has a member
