// The field names of types that do not declare them: by C++26 reflection if the compiler has it,
// else by Boost.PFR, for plain aggregates. Only this file includes PFR.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/reflect/aggregate_fault.hpp>

#ifdef __cpp_impl_reflection
#include <latchkey/detail/reflect/class_members.hpp>
#else

#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include <latchkey/detail/reflect/bit_field.hpp>
#include <latchkey/third_party/pfr/core.hpp>
#include <latchkey/third_party/pfr/core_name.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::reflect {

/// The fields of a larger aggregate must be declared. PFR needs one function for each number of
/// fields, and their parameters alone are a megabyte of source for its own limit of 200.
/// cmake/rewrite_pfr.cmake drops the functions above this limit.
inline constexpr std::size_t max_fields = 64;

namespace pfr = ::latchkey::third_party::pfr;

namespace detail {

// Converts to any initialiser. Never defined: for requires-expressions only.
struct AnyField {
  std::size_t index;
  template <class T>
  operator T() const noexcept;  // NOLINT(google-explicit-constructor)
};

template <class T>
struct AnyBase {
  template <class Base>
    requires(std::is_base_of_v<Base, T> && !std::is_same_v<Base, T>)
  operator Base() const noexcept;  // NOLINT(google-explicit-constructor)
};

template <class T>
concept StartsWithABase = requires { T{AnyBase<T>{}}; };

// An array takes as many initialisers as it has elements, but only one if that one is {}. With {}
// in the array's place, the other initialisers are therefore one too many.
template <class T, std::size_t... Before, std::size_t... After>
constexpr bool is_array_at(std::index_sequence<Before...>, std::index_sequence<After...>) {
  return requires { T{AnyField{Before}..., {}}; } &&
         !requires { T{AnyField{Before}..., {}, AnyField{After}...}; };
}

// In C++26 PFR counts an array as one field. The array still takes an initialiser for each of its
// elements, so that the type takes more than it has fields.
template <class T, std::size_t... I>
constexpr bool has_array(std::index_sequence<I...>) {
  if (requires { T{AnyField{I}..., AnyField{sizeof...(I)}}; }) return true;
  return (is_array_at<T>(std::make_index_sequence<I>{},
                         std::make_index_sequence<sizeof...(I) - I - 1>{}) ||
          ...);
}

template <class T>
constexpr AggregateFault fault_of() {
  if constexpr (!std::is_aggregate_v<T> || std::is_union_v<T>) {
    return AggregateFault::not_an_aggregate;
  } else if constexpr (std::is_empty_v<T>) {
    return AggregateFault::none;
  } else if constexpr (StartsWithABase<T>) {
    return AggregateFault::has_a_base;
  } else if constexpr (pfr::tuple_size_v<T> > max_fields) {
    return AggregateFault::has_too_many_fields;
  } else if constexpr (has_array<T>(std::make_index_sequence<pfr::tuple_size_v<T>>{})) {
    return AggregateFault::has_an_array;
  } else if constexpr (has_bit_field<T, pfr::tuple_size_v<T>>()) {
    return AggregateFault::has_a_bit_field;
  } else {
    return AggregateFault::none;
  }
}

}  // namespace detail

template <class T>
inline constexpr AggregateFault aggregate_fault = detail::fault_of<T>();

/// The counterpart of FieldList for an aggregate without a fault.
template <class T>
struct AggregateFields {
  static constexpr std::size_t count = pfr::tuple_size_v<T>;

  template <std::size_t I>
  static constexpr std::string_view name() {
    return pfr::get_name<I, T>();
  }

  template <std::size_t I>
  static constexpr const auto& get(const T& object) {
    return pfr::get<I>(object);
  }
};

}  // namespace latchkey::inline v1::reflect
#pragma GCC visibility pop
#endif
