// The arguments of one call, by position, and the argument that a path begins with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include <latchkey/fixed_string.hpp>
#include <latchkey/key/node.hpp>
#include <latchkey/key/read.hpp>
#include <latchkey/name_list.hpp>

namespace latchkey::detail {

template <std::size_t I, class T>
struct BoundArgument {
  const T& value;
};

template <class Indexes, class... Args>
struct BoundArguments;

template <std::size_t... I, class... Args>
struct BoundArguments<std::index_sequence<I...>, Args...> : BoundArgument<I, Args>... {};

template <class... Args>
using Arguments = BoundArguments<std::index_sequence_for<Args...>, Args...>;

template <std::size_t I, class T>
LATCHKEY_DETAIL_INLINE const T& argument_at(const BoundArgument<I, T>& argument) {
  return argument.value;
}

/// The position of the argument that a path begins with, or not_found.
constexpr std::size_t argument_position(const Node& path, std::string_view word,
                                        std::string_view names, std::size_t count) {
  if (path.kind == NodeKind::POSITION) {
    return path.number < count ? static_cast<std::size_t>(path.number) : not_found;
  }
  // If there is not one name for each argument, a name could select the wrong argument.
  return name_count(names) == count ? name_index(names, word) : not_found;
}

/// The path's Value, or a type that describes why the path does not fit.
template <class Tree, std::uint16_t Path, bool Counting, FixedString Names, class... Args>
LATCHKEY_DETAIL_INLINE auto read_path(
    const BoundArguments<std::index_sequence_for<Args...>, Args...>& arguments,
    const Reading& reading) {
  constexpr std::size_t at =
      argument_position(Tree::node(Path), Tree::word(Path), Names.view(), sizeof...(Args));
  if constexpr (at < sizeof...(Args)) {
    return read<At<Tree, Path, Tree::node(Path).first, Counting>>(argument_at<at>(arguments),
                                                                  reading);
  } else {
    return refused_argument<Tree, Path, Names, sizeof...(Args)>();
  }
}

}  // namespace latchkey::detail
