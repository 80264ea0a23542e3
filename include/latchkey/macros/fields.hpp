// LATCHKEY_FIELDS and LATCHKEY_REFLECT: how a type declares its fields.
// SPDX-License-Identifier: BSL-1.0
#pragma once

// clang-format off
#define LATCHKEY_DETAIL_PARENS ()
#define LATCHKEY_DETAIL_EXPAND(...) \
  LATCHKEY_DETAIL_EXPAND3(LATCHKEY_DETAIL_EXPAND3(LATCHKEY_DETAIL_EXPAND3(__VA_ARGS__)))
#define LATCHKEY_DETAIL_EXPAND3(...) \
  LATCHKEY_DETAIL_EXPAND2(LATCHKEY_DETAIL_EXPAND2(LATCHKEY_DETAIL_EXPAND2(__VA_ARGS__)))
#define LATCHKEY_DETAIL_EXPAND2(...) \
  LATCHKEY_DETAIL_EXPAND1(LATCHKEY_DETAIL_EXPAND1(LATCHKEY_DETAIL_EXPAND1(__VA_ARGS__)))
#define LATCHKEY_DETAIL_EXPAND1(...) __VA_ARGS__
// clang-format on
#define LATCHKEY_DETAIL_FIELDS_AGAIN() LATCHKEY_DETAIL_FIELDS
#define LATCHKEY_DETAIL_FIELDS(type, field, ...)               \
  ::latchkey::reflect::Field<#field, &type::field> __VA_OPT__( \
      , LATCHKEY_DETAIL_FIELDS_AGAIN LATCHKEY_DETAIL_PARENS(type, __VA_ARGS__))

/// Declares the fields of `type` that keys may name: members, or getters without arguments. Write
/// it inside the class (in its public section; it may name private members too) or right after the
/// class in its namespace, before the type's first use in a key. At most 27 fields. Names that the
/// type does not have, and overloaded getters, do not compile.
#define LATCHKEY_FIELDS(type, ...)                                                  \
  [[maybe_unused]] constexpr auto latchkey_fields(::latchkey::reflect::tag<type>) { \
    return ::latchkey::reflect::FieldList<LATCHKEY_DETAIL_EXPAND(                   \
        LATCHKEY_DETAIL_FIELDS(type, __VA_ARGS__))>{};                              \
  }                                                                                 \
  static_assert(true, "LATCHKEY_FIELDS ends with a semicolon")

/// Lets keys of policy files name the members of the aggregate `type`; keys in code may do so
/// without it. Write it inside the class (in its public section) or right after it in its
/// namespace, before the type's first use in a key.
#define LATCHKEY_REFLECT(type)                                               \
  [[maybe_unused]] constexpr ::latchkey::reflect::Aggregate latchkey_fields( \
      ::latchkey::reflect::tag<type>) {                                      \
    return {};                                                               \
  }                                                                          \
  static_assert(true, "LATCHKEY_REFLECT ends with a semicolon")
