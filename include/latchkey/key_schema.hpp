// The arguments of a call as data. The key of a policy file is checked against it when the file is
// loaded, before any call.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include <latchkey/detail/name_list.hpp>
#include <latchkey/detail/reflect/type_info.hpp>
#include <latchkey/fixed_string.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

struct SchemaArgument {
  std::string_view name;  // empty if only its position is known
  const reflect::TypeInfo* type;
};

/// A view of static data: copy it freely, keep it as long as the program runs.
using Schema = std::span<const SchemaArgument>;

namespace detail {

template <class Indexes, FixedString Names, class... Args>
struct SchemaData;

template <std::size_t... I, FixedString Names, class... Args>
struct SchemaData<std::index_sequence<I...>, Names, Args...> {
  static constexpr bool named = name_count(Names.view()) == sizeof...(Args);
  static constexpr std::array<SchemaArgument, sizeof...(Args)> arguments{SchemaArgument{
      named ? name_at(Names.view(), I) : std::string_view{}, &reflect::type_info<Args>()}...};
};

template <class... Args>
inline constexpr const reflect::TypeInfo* type_infos[] = {&reflect::type_info<Args>()..., nullptr};

}  // namespace detail

/// `Names` as for Key::check. Costs one object for each argument type of the program, and for types
/// with LATCHKEY_FIELDS or LATCHKEY_REFLECT one for each type that is reachable from them.
template <FixedString Names, class... Args>
constexpr Schema schema_of() {
  return detail::SchemaData<std::index_sequence_for<Args...>, Names, Args...>::arguments;
}

/// The arguments of one call for BoundKey, in the schema's order. Valid while the arguments live.
template <class... Args>
std::array<const void*, sizeof...(Args)> argument_pointers(const Args&... args) {
  return {static_cast<const void*>(&args)...};
}

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
