// How a type declares its fields: LATCHKEY_FIELDS, LATCHKEY_REFLECT, and the hook that they use.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include <latchkey/fixed_string.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::reflect {

/// Selects the hook: overload `latchkey_fields(latchkey::reflect::tag<T>)` beside T.
template <class T>
struct tag {};

/// One named field and how to get it from a `const T&`: a pointer to a member, a pointer to a
/// getter without arguments, or any callable that can be a template argument (a captureless
/// lambda).
template <FixedString Name, auto Projection>
struct Field {
  static constexpr std::string_view name = Name.view();

  template <class T>
  static constexpr decltype(auto) get(const T& object) {
    if constexpr (std::is_member_object_pointer_v<decltype(Projection)>) {
      return (object.*Projection);
    } else if constexpr (std::is_member_function_pointer_v<decltype(Projection)>) {
      return (object.*Projection)();
    } else {
      return Projection(object);
    }
  }
};

/// Explicitly named fields: made by LATCHKEY_FIELDS, or returned by a hook.
/// \code
/// constexpr auto latchkey_fields(latchkey::reflect::tag<wire::Order>) {
///   using latchkey::reflect::Field;
///   return latchkey::reflect::FieldList<Field<"id", &wire::Order::order_id>,
///                                       Field<"day", [](const wire::Order& o) { return o.at().day;
///                                       }>>{};
/// }
/// \endcode
template <class... Fields>
struct FieldList {
  static constexpr std::size_t count = sizeof...(Fields);
};

/// The members are the fields: made by LATCHKEY_REFLECT.
struct Aggregate {};

namespace detail {

// The hook is a member function that LATCHKEY_FIELDS declares inside the class, or a function
// beside the class that is found by argument-dependent lookup. Only its result type is used.
template <class T>
concept HasMemberHook = requires(T& object) { object.latchkey_fields(tag<T>{}); };

template <class T>
concept HasFreeHook = requires { latchkey_fields(tag<T>{}); };

template <class T>
struct HookOf {
  using type = void;
};

template <HasMemberHook T>
struct HookOf<T> {
  using type = decltype(std::declval<T&>().latchkey_fields(tag<T>{}));
};

template <class T>
  requires(!HasMemberHook<T> && HasFreeHook<T>)
struct HookOf<T> {
  using type = decltype(latchkey_fields(tag<T>{}));
};

}  // namespace detail

/// FieldList<...>, Aggregate, or void if the type declares nothing.
template <class T>
using hook_t = typename detail::HookOf<T>::type;

/// The type declares fields for use at run time: keys of policy files may name them.
template <class T>
concept Declared = std::is_class_v<T> && !std::is_void_v<hook_t<T>>;

}  // namespace latchkey::inline v1::reflect

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
#pragma GCC visibility pop
