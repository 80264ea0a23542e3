// The join point of one call with the static types of its arguments, made by AROUND(arguments).
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <memory>
#include <source_location>
#include <string_view>
#include <type_traits>
#include <utility>

#include <latchkey/detail/placed_text.hpp>
#include <latchkey/join_point.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

template <class... Arguments>
inline constexpr const TypeTag* type_tags[] = {&type_tag<std::remove_cv_t<Arguments>>..., nullptr};

/// The empty source location, for calls without a place of their own.
struct NoPlace {
  constexpr std::source_location operator()() const noexcept { return {}; }
};

/// The arguments that AROUND names, by address. Calls with equal argument types share this class.
template <class... Arguments>
struct Addresses {
  // NOLINTNEXTLINE(google-explicit-constructor): the macro writes it with braces
  Addresses(const Arguments&... arguments) noexcept
      : all{static_cast<const void*>(std::addressof(arguments))..., nullptr} {}

  const void* all[sizeof...(Arguments) + 1];
};
template <class... Arguments>
Addresses(Arguments&&...) -> Addresses<std::remove_reference_t<Arguments>...>;

/// The join point of one call with its argument types. PlacedCall adds the place.
template <class... Arguments>
class CallArguments : public JoinPoint {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): PlacedCall initialises it as an aggregate's base
  CallArguments(Site& site, const void* const* addresses) noexcept : JoinPoint(site, addresses) {}

  /// Calls `function` with all arguments, each as const.
  template <class Function>
  decltype(auto) apply(Function&& function) const {
    return apply_at(function, std::index_sequence_for<Arguments...>());
  }

  template <template <class...> class Template>
  using with_arguments = Template<Arguments...>;

  using JoinPoint::addresses;
  using JoinPoint::own_site;

 private:
  template <class Function, std::size_t... Index>
  decltype(auto) apply_at(Function& function, std::index_sequence<Index...>) const {
    return function(*static_cast<const Arguments*>(addresses()[Index])...);
  }
};

/// One call, from the decorator to the body. `Where` as in Given.
template <class Where, class... Arguments>
struct PlacedCall : CallArguments<Arguments...> {};

template <class Result, class... Arguments>
inline constexpr SiteTypes site_types{type_tags<Arguments...>, sizeof...(Arguments),
                                      &type_tag<Result>};

/// The site of all calls that have this decorator, result type, place and argument types.
template <class Decorator, class Result, class Where, class... Arguments>
struct SiteOf {
  static inline constinit Site site{
      Where{}().place, std::string_view(Decorator::fixed_site_name()).data(), Where{}().text.data(),
      site_types<Result, Arguments...>,
      Decorator::template site_notes<PlacedCall<Where, Arguments...>, Result, nullptr>()};
  // Registers the site. The initialiser runs before main because Ready uses this variable.
  static inline const bool registered = register_site(site);
};

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop
