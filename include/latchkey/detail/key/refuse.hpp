// Adds the right words to a wrong one. Instantiated for wrong keys only.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include <latchkey/detail/key/node.hpp>
#include <latchkey/detail/key/refusal.hpp>
#include <latchkey/detail/name_list.hpp>
#include <latchkey/detail/reflect.hpp>
#include <latchkey/fixed_string.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

template <FixedString Names, std::size_t I>
inline constexpr FixedString<name_at(Names.view(), I).size()> shown_name{name_at(Names.view(), I)};

template <class T, std::size_t I>
inline constexpr FixedString<reflect::field_names<T>[I].size()> shown_field{
    reflect::field_names<T>[I]};

template <FixedString Word, FixedString Names, std::size_t... I>
constexpr auto refused_name(std::index_sequence<I...>) {
  return key_error::no_argument_named<Word, shown_name<Names, I>...>{};
}

template <FixedString Word, class T, std::size_t... I>
constexpr auto refused_field(std::index_sequence<I...>) {
  return key_error::no_field_named<Word, T, shown_field<T, I>...>{};
}

template <FixedString Path, class T, std::size_t... I>
constexpr auto refused_object(std::index_sequence<I...>) {
  return key_error::an_object_makes_no_key_name_a_field_or_write_latchkey_key<
      Path, T, shown_field<T, I>...>{};
}

template <class T>
using field_indexes = std::make_index_sequence<reflect::fields_t<T>::count>;

/// A '.' after a type that has no such field.
template <FixedString Word, class T>
constexpr auto refused_member() {
  using reflect::AggregateFault;
  if constexpr (reflect::shape_of<T> != reflect::Shape::object) {
    return key_error::type_has_no_fields<Word, T>{};
  } else if constexpr (reflect::fields_fault<T>() == AggregateFault::not_an_aggregate) {
    if constexpr (std::is_polymorphic_v<T>) {
      return key_error::type_has_virtual_functions_write_LATCHKEY_FIELDS<Word, T>{};
    } else {
      return key_error::members_are_private_or_set_by_a_constructor_write_LATCHKEY_FIELDS<Word,
                                                                                          T>{};
    }
  } else if constexpr (reflect::fields_fault<T>() == AggregateFault::has_a_bit_field) {
    return key_error::type_has_a_bit_field_write_LATCHKEY_FIELDS_with_a_getter_for_it<Word, T>{};
  } else if constexpr (reflect::fields_fault<T>() == AggregateFault::has_too_many_fields) {
    return key_error::type_has_more_than_64_fields_write_LATCHKEY_FIELDS_with_those_that_keys_use<
        Word, T>{};
  } else if constexpr (reflect::fields_fault<T>() == AggregateFault::has_a_base) {
    return key_error::type_has_a_base_write_LATCHKEY_FIELDS<Word, T>{};
  } else if constexpr (reflect::fields_fault<T>() == AggregateFault::has_an_array) {
    return key_error::type_has_a_C_array_write_LATCHKEY_FIELDS<Word, T>{};
  } else {
    return refused_field<Word, T>(field_indexes<T>{});
  }
}

/// A path whose value is neither text nor integer.
template <FixedString Path, class T>
constexpr auto refused_leaf() {
  using reflect::Shape;
  constexpr Shape shape = reflect::shape_of<T>;
  if constexpr (shape == Shape::floating) {
    return key_error::a_floating_point_number_makes_no_key<Path, T>{};
  } else if constexpr (shape == Shape::sequence || shape == Shape::map) {
    return key_error::a_container_makes_no_key_index_it<Path, T>{};
  } else if constexpr (shape == Shape::object) {
    return refused_object<Path, T>(field_indexes<T>{});
  } else if constexpr (std::is_class_v<T> || std::is_union_v<T>) {
    return key_error::this_type_makes_no_key_write_latchkey_key<Path, T>{};
  } else {
    return key_error::this_type_makes_no_key<Path, T>{};
  }
}

template <class Tree, std::uint16_t Path, FixedString Names, std::size_t Count>
consteval auto refused_argument() {
  constexpr std::size_t named = name_count(Names.view());
  constexpr auto word = Tree::template shown_word<Path>;
  if constexpr (Tree::node(Path).kind == NodeKind::position) {
    return key_error::no_argument_at<word, Count>{};
  } else if constexpr (named == 0) {
    return key_error::arguments_have_only_positions_here<word>{};
  } else if constexpr (named != Count) {
    return key_error::these_names_are_not_one_for_each_argument<word, Names>{};
  } else {
    return refused_name<word, Names>(std::make_index_sequence<named>{});
  }
}

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop
