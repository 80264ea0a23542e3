// Errors in the paths of keys in code. The name of each type describes the error. Both compilers
// show it in the line of the error, with the wrong word and all right ones as template arguments.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>

#include <latchkey/fixed_string.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::key_error {

// Each has its own `value`: GCC's message names the class that declares it and not a derived one.
struct Fits {
  static constexpr bool value = true;
  using fits_the_arguments = void;
};

/// The first error takes precedence.
template <class Next>
constexpr auto operator|(Fits, const Next& next) {
  if constexpr (Next::value) {
    return Fits{};
  } else {
    return next;
  }
}

template <class First, class Next>
  requires(!First::value)
constexpr First operator|(First first, const Next&) {
  return first;
}

template <FixedString Word, FixedString... ArgumentNames>
struct no_argument_named {
  static constexpr bool value = false;
};

template <FixedString Word>
struct arguments_have_only_positions_here {
  static constexpr bool value = false;
};

template <FixedString Word, FixedString Names>
struct these_names_are_not_one_for_each_argument {
  static constexpr bool value = false;
};

template <FixedString Position, std::size_t ArgumentCount>
struct no_argument_at {
  static constexpr bool value = false;
};

template <FixedString Word, class Type, FixedString... FieldNames>
struct no_field_named {
  static constexpr bool value = false;
};

template <FixedString Word, class Type>
struct type_has_no_fields {
  static constexpr bool value = false;
};

template <FixedString Word, class Type>
struct members_are_private_or_set_by_a_constructor_write_LATCHKEY_FIELDS {
  static constexpr bool value = false;
};

template <FixedString Word, class Type>
struct type_has_virtual_functions_write_LATCHKEY_FIELDS {
  static constexpr bool value = false;
};

template <FixedString Word, class Type>
struct type_has_a_bit_field_write_LATCHKEY_FIELDS_with_a_getter_for_it {
  static constexpr bool value = false;
};

template <FixedString Word, class Type>
struct type_has_more_than_64_fields_write_LATCHKEY_FIELDS_with_those_that_keys_use {
  static constexpr bool value = false;
};

template <FixedString Word, class Type>
struct type_has_a_base_write_LATCHKEY_FIELDS {
  static constexpr bool value = false;
};

template <FixedString Word, class Type>
struct type_has_a_C_array_write_LATCHKEY_FIELDS {
  static constexpr bool value = false;
};

template <FixedString Path, class Type>
struct a_floating_point_number_makes_no_key {
  static constexpr bool value = false;
};

template <FixedString Path, class Type, FixedString... FieldNames>
struct an_object_makes_no_key_name_a_field_or_write_latchkey_key {
  static constexpr bool value = false;
};

template <FixedString Path, class Type>
struct a_container_makes_no_key_index_it {
  static constexpr bool value = false;
};

template <FixedString Path, class Type>
struct this_type_makes_no_key {
  static constexpr bool value = false;
};

template <FixedString Path, class Type>
struct this_type_makes_no_key_write_latchkey_key {
  static constexpr bool value = false;
};

template <FixedString Path, class Type>
struct the_percent_sign_needs_an_integer {
  static constexpr bool value = false;
};

template <FixedString Path, class Type>
struct size_counts_elements_or_bytes_of_text {
  static constexpr bool value = false;
};

template <FixedString Index, class Type>
struct a_number_indexes_containers_and_maps_with_integer_keys {
  static constexpr bool value = false;
};

template <FixedString Index, class Type>
struct a_text_indexes_maps_with_text_keys {
  static constexpr bool value = false;
};

template <FixedString Path, class Type>
struct a_star_takes_each_element_of_a_container {
  static constexpr bool value = false;
};

/// The error of one key of KEYS.
template <FixedString Template, class Error>
struct in_key {
  static constexpr bool value = false;
};

template <FixedString Path, class Type>
struct latchkey_key_returns_no_text {
  static constexpr bool value = false;
};

}  // namespace latchkey::inline v1::key_error
#pragma GCC visibility pop
