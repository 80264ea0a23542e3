// The argument of `.when`.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string_view>
#include <type_traits>
#include <utility>

#include <latchkey/detail/aspect/call.hpp>
#include <latchkey/detail/locked/outcomes.hpp>
#include <latchkey/detail/placed_text.hpp>
#include <latchkey/fixed_string.hpp>
#include <latchkey/key.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

/// No `.when`: the call always locks.
struct Always {};

/// `.when(amount > limit)`: evaluated at the decorator.
struct WhenTrue {
  bool value;

  template <class Where, class... Arguments>
  static consteval bool check() {
    return true;
  }

  template <class Call>
  [[nodiscard]] bool holds(const Call&) const noexcept {
    return value;
  }
};

/// `.when(predicate)`: called at every call, with the arguments or with none.
template <class Predicate>
struct WhenSaid {
  Predicate predicate;

  template <class Where, class... Arguments>
  static consteval bool check() {
    static_assert(FallbackFor<Predicate>::template With<Arguments...>::callable,
                  "latchkey: `.when` takes a bool, or a function that is called with the arguments "
                  "named in AROUND, as const, or with none: this one takes neither");
    return true;
  }

  template <class Call>
  [[nodiscard]] bool holds(const Call& call) const {
    using Fit = typename Call::template with_arguments<FallbackFor<Predicate>::template With>;
    if constexpr (Fit::callable) {
      return static_cast<bool>(call_fallback(predicate, call));
    } else {
      return true;
    }
  }
};

/// Throws KeyError for a text that is neither "true" nor "false".
[[nodiscard]] bool truth_of(std::string_view text, std::string_view expression);

/// `.when<"{account.frozen}">()`: a key expression that renders to true or false.
template <FixedString Expression>
struct WhenKey {
  using Text = Literal<Expression>;
  template <class Where, class... Arguments>
  using Plan = decltype(plan_key<Tree<Text>, Where, Arguments...>(typename Tree<Text>::Slots(),
                                                                  typename Tree<Text>::Pieces()));

  template <class Where, class... Arguments>
  static consteval bool check() {
    static_assert(!CompiledKey<Text>::many,
                  "the key has [*], so it is many keys: render_many() gives them");
    return KeyCheck<typename Plan<Where, Arguments...>::Verdict>::run();
  }

  template <class Where, class... Arguments>
  [[nodiscard]] bool holds(const PlacedCall<Where, Arguments...>& call) const {
    using Fitted = Plan<Where, std::remove_cv_t<Arguments>...>;
    KeyBuffer text;
    if constexpr (Fitted::Verdict::value) {
      Fitted::Shape::render(text, CompiledKey<Text>::data, call.addresses());
    }
    return truth_of(text.view(), Expression.view());
  }
};

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop
