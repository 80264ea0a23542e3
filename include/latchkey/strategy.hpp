// The strategies of a decorated call that did not get its lock or lost it.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

/// Why a body did not run.
enum class NotRun : std::uint8_t {
  timeout = 1,  ///< the lock was busy for the whole wait
  unavailable,  ///< the backend gave no definite reply
};

/// Strategies are arguments of on_timeout and its siblings: `on_timeout(latchkey::strategy::skip)`.
namespace strategy {

/// The default of all options: the error is thrown.
struct Raise {
  friend constexpr bool operator==(Raise, Raise) noexcept = default;
};
inline constexpr Raise raise{};

/// `.on_lost(report)`: the loss is reported to the listener, and the result is returned unchanged.
struct Report {
  friend constexpr bool operator==(Report, Report) noexcept = default;
};
inline constexpr Report report{};

/// The body does not run and the result shows it: void, null, an empty optional, or an expected
/// with an error made from NotRun, std::errc (timed_out, resource_unavailable_try_again) or the
/// exception itself (std::exception_ptr). Other result types need skip_with.
struct Skip {
  friend constexpr bool operator==(Skip, Skip) noexcept = default;
};
inline constexpr Skip skip{};

/// `.on_timeout(run_unlocked_dangerously)`: the body runs although another caller may be inside it.
struct RunUnlocked {
  friend constexpr bool operator==(RunUnlocked, RunUnlocked) noexcept = default;
};
inline constexpr RunUnlocked run_unlocked_dangerously{};

template <class Value>
struct SkipWith {
  Value value;
};
/// The body does not run; the result is a copy of `value`.
template <class Value>
constexpr SkipWith<std::decay_t<Value>> skip_with(Value&& value) {
  return {std::forward<Value>(value)};
}

template <class Function>
struct Fallback {
  Function function;
};
/// The body does not run; the result is that of `function`, which is called with the arguments of
/// the decorated call (as const) or with none.
template <class Function>
constexpr Fallback<std::decay_t<Function>> fallback(Function&& function) {
  return {std::forward<Function>(function)};
}

}  // namespace strategy
}  // namespace latchkey::inline v1
#pragma GCC visibility pop
