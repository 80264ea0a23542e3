// The join point of one call with the static types of its arguments, made by AROUND(arguments).
#pragma once

#include <cstddef>
#include <source_location>
#include <type_traits>
#include <utility>

#include <latchkey/fixed_string.hpp>
#include <latchkey/join_point.hpp>

namespace latchkey::detail {

template <class... Arguments>
inline constexpr const TypeTag* type_tags[] = {&type_tag<std::remove_cv_t<Arguments>>..., nullptr};

/// The empty source location, for calls without a place of their own.
struct NoPlace {
  constexpr std::source_location operator()() const noexcept { return {}; }
};

/// The join point of one call with its argument types. Names and place are added by Call, so that
/// calls with equal argument types share this class.
template <class Indices, class... Arguments>
class CallArguments;

template <std::size_t... Index, class... Arguments>
class CallArguments<std::index_sequence<Index...>, Arguments...> : public JoinPoint {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): Call initialises it as an aggregate's base
  CallArguments(Arguments&... arguments) noexcept
      : JoinPoint(addresses_),
        addresses_{static_cast<const void*>(std::addressof(arguments))..., nullptr} {}

  /// Calls `function` with all arguments, each as const.
  template <class Function>
  decltype(auto) apply(Function&& function) const {
    return function(*static_cast<const Arguments*>(addresses_[Index])...);
  }

  [[nodiscard]] const void* address(std::size_t position) const noexcept {
    return addresses_[position];
  }

  template <template <class...> class Template>
  using with_arguments = Template<Arguments...>;

  [[nodiscard]] const void* const* addresses() const noexcept { return addresses_; }

  using JoinPoint::at;
  using JoinPoint::own_site;

 private:
  const void* addresses_[sizeof...(Arguments) + 1];
};

/// One call, from the decorator to the body. `Where` is a captureless callable that returns the
/// std::source_location; each place has its own type of it. `Names` are the names of the arguments,
/// separated by commas; it is empty if the arguments are known by position only.
template <FixedString Names, class Where, class Indices, class... Arguments>
struct Call : CallArguments<Indices, Arguments...> {};

template <FixedString Names, class Where, class... Arguments>
using CallOf = Call<Names, Where, std::index_sequence_for<Arguments...>, Arguments...>;

/// The site of all calls that have this call type, result type and decorator.
template <class Call, class Result, class Decorator>
struct SiteOf;

template <FixedString Names, class Where, class Indices, class... Arguments, class Result,
          class Decorator>
struct SiteOf<Call<Names, Where, Indices, Arguments...>, Result, Decorator> {
  static inline constinit Site site{
      Where{}(),
      Decorator::fixed_site_name(),
      Names.data,
      type_tags<Arguments...>,
      sizeof...(Arguments),
      type_tag<Result>,
      Decorator::template site_notes<Call<Names, Where, Indices, Arguments...>, Result, nullptr>()};
  // Registers the site. The initialiser runs before main because operator&& uses this variable.
  static inline const bool registered = register_site(site);
};

}  // namespace latchkey::detail
