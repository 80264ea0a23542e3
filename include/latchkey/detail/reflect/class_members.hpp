// The fields of a class by C++26 reflection: its members, those of its bases, and its getters.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <meta>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include <latchkey/detail/reflect/aggregate_fault.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::reflect {

namespace detail {

/// One field: the base classes on the way to it, outermost first, then the member.
using FieldPath = std::vector<std::meta::info>;

consteval bool yields_value(std::meta::info function) {
  try {
    return dealias(return_type_of(function)) != ^^void;
  } catch (const std::meta::exception&) {
    return true;  // the result is deduced, which its call in the key does
  }
}

/// A const member function without parameters, as LATCHKEY_FIELDS accepts it.
consteval bool is_getter(std::meta::info member) {
  return is_function(member) && has_identifier(member) && !is_static_member(member) &&
         is_const(member) && !is_volatile(member) && !is_rvalue_reference_qualified(member) &&
         parameters_of(member).empty() && yields_value(member);
}

consteval bool contains_name(const std::vector<FieldPath>& paths, std::string_view name) {
  for (const FieldPath& path : paths) {
    if (identifier_of(path.back()) == name) return true;
  }
  return false;
}

/// Appends the fields of `type`. A member hides those of its class's bases with the same name, as
/// in C++. Access does not matter: a key reads and never writes.
consteval void collect_fields(std::meta::info type, const FieldPath& way,
                              std::vector<FieldPath>& paths) {
  const auto everything = std::meta::access_context::unchecked();
  const auto add = [&](std::meta::info member) {
    if (contains_name(paths, identifier_of(member))) return;
    FieldPath path = way;
    path.push_back(member);
    paths.push_back(path);
  };
  for (const std::meta::info member : nonstatic_data_members_of(type, everything)) {
    if (has_identifier(member)) add(member);
  }
  for (const std::meta::info member : members_of(type, everything)) {
    if (is_getter(member)) add(member);
  }
  for (const std::meta::info base : bases_of(type, everything)) {
    FieldPath further = way;
    further.push_back(base);
    collect_fields(type_of(base), further, paths);
  }
}

consteval std::vector<FieldPath> fields_of_class(std::meta::info type) {
  std::vector<FieldPath> paths;
  collect_fields(type, {}, paths);
  return paths;
}

/// A text as a constant that may be part of other constants, which std::string_view may not.
struct StaticText {
  const char* data;
  std::size_t size;
};

consteval StaticText static_text(std::string_view text) {
  return {std::define_static_string(text), text.size()};
}

consteval std::span<const StaticText> names_of_class(std::meta::info type) {
  std::vector<StaticText> names;
  for (const FieldPath& path : fields_of_class(type)) {
    names.push_back(static_text(identifier_of(path.back())));
  }
  return std::define_static_array(names);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
/// Only this cast reaches a base that is not public.
template <class Base, class T>
constexpr const Base& as_base(const T& object) {
  return (const Base&)object;  // NOLINT(google-readability-casting)
}
#pragma GCC diagnostic pop

/// The rest of a path from its step `At` on, which begins at `object`.
template <const std::meta::info* Path, std::size_t Length, std::size_t At, class T>
constexpr decltype(auto) follow(const T& object) {
  if constexpr (At + 1 < Length) {
    return follow<Path, Length, At + 1>(as_base<typename[:type_of(Path[At]):]>(object));
  } else if constexpr (is_function(Path[At])) {
    return object.[:Path[At]:]();
  } else if constexpr (is_bit_field(Path[At])) {
    return static_cast<[:remove_cv(type_of(Path[At])):]>(object.[:Path[At]:]);
  } else {
    return (object.[:Path[At]:]);
  }
}

}  // namespace detail

/// The name of the first enumerator with this value; empty if there is none.
template <class Enum>
constexpr std::string_view enumerator_name(Enum value) {
  template for (constexpr std::meta::info each : std::define_static_array(enumerators_of(^^Enum))) {
    if (value == [:each:]) return std::define_static_string(identifier_of(each));
  }
  return {};
}

template <class T>
inline constexpr AggregateFault aggregate_fault =
    std::is_union_v<T> ? AggregateFault::not_an_aggregate : AggregateFault::none;

/// The counterpart of FieldList for a class.
template <class T>
struct AggregateFields {
  static constexpr std::span<const detail::StaticText> names = detail::names_of_class(^^T);
  static constexpr std::size_t count = names.size();

  template <std::size_t I>
  static constexpr std::string_view name() {
    return {names[I].data, names[I].size};
  }

  template <std::size_t I>
  static constexpr decltype(auto) get(const T& object) {
    static constexpr auto path = std::define_static_array(detail::fields_of_class(^^T)[I]);
    return detail::follow<path.data(), path.size(), 0>(object);
  }
};

}  // namespace latchkey::inline v1::reflect
#pragma GCC visibility pop
