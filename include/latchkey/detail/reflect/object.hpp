// The fields of a type, however they are declared. All code that reads fields uses this interface.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include <latchkey/detail/reflect/aggregate.hpp>
#include <latchkey/detail/reflect/shape.hpp>
#include <latchkey/fields.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::reflect {
namespace detail {

// Accessed by position: a fold over the list needs one instantiation per type, not one per field.
template <class T, class List>
struct ListedFields;

template <std::size_t I, class F>
struct Slot {
  using type = F;
};

template <class Indexes, class... Fields>
struct Slots;

template <std::size_t... I, class... Fields>
struct Slots<std::index_sequence<I...>, Fields...> : Slot<I, Fields>... {};

template <std::size_t I, class F>
Slot<I, F> slot_at(const Slot<I, F>*);

template <class T, class... Fields>
struct ListedFields<T, FieldList<Fields...>> {
  static constexpr std::size_t count = sizeof...(Fields);
  using All = Slots<std::index_sequence_for<Fields...>, Fields...>;

  template <std::size_t I>
  using FieldAt = typename decltype(slot_at<I>(static_cast<const All*>(nullptr)))::type;

  template <std::size_t I>
  static constexpr std::string_view name() {
    return FieldAt<I>::name;
  }

  template <std::size_t I>
  static constexpr decltype(auto) get(const T& object) {
    return FieldAt<I>::get(object);
  }
};

struct NoFields {
  static constexpr std::size_t count = 0;
};

// The two members of every std::pair, which is not an aggregate and cannot have a hook.
template <class T>
concept Pairs = requires {
  typename T::first_type;
  typename T::second_type;
};

template <class T>
constexpr auto fields_of() {
  if constexpr (Declared<T> && !std::is_same_v<hook_t<T>, Aggregate>) {
    return static_cast<ListedFields<T, hook_t<T>>*>(nullptr);
  } else if constexpr (Pairs<T>) {
    using Both = FieldList<Field<"first", &T::first>, Field<"second", &T::second>>;
    return static_cast<ListedFields<T, Both>*>(nullptr);
  } else if constexpr (aggregate_fault<T> == AggregateFault::none) {
    return static_cast<AggregateFields<T>*>(nullptr);
  } else {
    return static_cast<NoFields*>(nullptr);
  }
}

template <class Fields, std::size_t... I>
constexpr std::array<std::string_view, sizeof...(I)> names_of(std::index_sequence<I...>) {
  return {Fields::template name<I>()...};
}

}  // namespace detail

/// A type with count, name<I>() and get<I>(object). T is a class of shape OBJECT, without const.
template <class T>
using fields_t = std::remove_pointer_t<decltype(detail::fields_of<T>())>;

template <class T>
inline constexpr std::array<std::string_view, fields_t<T>::count> field_names =
    detail::names_of<fields_t<T>>(std::make_index_sequence<fields_t<T>::count>{});

/// The index of a field, or fields_t<T>::count.
template <class T>
constexpr std::size_t field_index(std::string_view name) {
  const auto& names = field_names<T>;
  std::size_t index = 0;
  while (index < names.size() && names[index] != name) ++index;
  return index;
}

inline constexpr std::size_t no_field = static_cast<std::size_t>(-1);

/// no_field also for types without fields.
template <class T>
constexpr std::size_t index_of_field(std::string_view name) {
  if constexpr (shape_of<T> == Shape::object) {
    const std::size_t index = field_index<T>(name);
    return index < fields_t<T>::count ? index : no_field;
  } else {
    return no_field;
  }
}

template <class T>
constexpr bool has_field(std::string_view name) {
  return index_of_field<T>(name) != no_field;
}

template <class T, std::size_t I>
using field_type =
    std::remove_cvref_t<decltype(fields_t<T>::template get<I>(std::declval<const T&>()))>;

/// Why `T` has no fields; NONE also for declared types.
template <class T>
constexpr AggregateFault fields_fault() {
  if constexpr (std::is_same_v<fields_t<T>, detail::NoFields>) {
    return aggregate_fault<T>;
  } else {
    return AggregateFault::none;
  }
}

}  // namespace latchkey::inline v1::reflect
#pragma GCC visibility pop
