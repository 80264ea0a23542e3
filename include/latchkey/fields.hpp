// How a type declares its fields: the hook that LATCHKEY_FIELDS and LATCHKEY_REFLECT use.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include <latchkey/fixed_string.hpp>
#include <latchkey/macros/fields.hpp>

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

#pragma GCC visibility pop
