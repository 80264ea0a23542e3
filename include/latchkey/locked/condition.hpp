// The argument of `.when`.
#pragma once

#include <type_traits>
#include <utility>

#include <latchkey/aspect/call.hpp>
#include <latchkey/fixed_string.hpp>
#include <latchkey/key.hpp>
#include <latchkey/locked/outcomes.hpp>

namespace latchkey::detail {

/// No `.when`: the call always locks.
struct Always {};

/// `.when(amount > limit)`: evaluated at the decorator.
struct WhenTrue {
  bool value;
  template <class Call>
  [[nodiscard]] bool holds(const Call&) const noexcept {
    return value;
  }
};

/// `.when(predicate)`: called at every call, with the arguments or with none.
template <class Predicate>
struct WhenSaid {
  Predicate predicate;
  template <class Call>
  [[nodiscard]] bool holds(const Call& call) const {
    using Fit = typename Call::template with_arguments<FallbackFor<Predicate>::template With>;
    static_assert(Fit::callable,
                  "latchkey: `.when` takes a bool, or a function that is called with the arguments "
                  "named in AROUND, as const, or with none: this one takes neither");
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
  template <FixedString Names, class Where, class Indices, class... Arguments>
  [[nodiscard]] bool holds(const Call<Names, Where, Indices, Arguments...>& call) const {
    KeyBuffer text;
    call.apply([&](const auto&... arguments) {
      Key<Expression>::template render<Names>(text, arguments...);
    });
    return truth_of(text.view(), Expression.view());
  }
};

}  // namespace latchkey::detail
