// The paths of a key, resolved for the argument types of one call.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include <latchkey/detail/key/node.hpp>
#include <latchkey/detail/key/read.hpp>
#include <latchkey/detail/key/tree.hpp>
#include <latchkey/detail/name_list.hpp>
#include <latchkey/detail/placed_text.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

template <std::size_t Index, class First, class... More>
struct TypeAt : TypeAt<Index - 1, More...> {};
template <class First, class... More>
struct TypeAt<0, First, More...> {
  using type = First;
};

/// The position of the argument that a path begins with, or not_found.
constexpr std::size_t argument_position(const Node& path, std::string_view word,
                                        std::string_view names, std::size_t count) {
  if (path.kind == NodeKind::position) {
    return path.number < count ? static_cast<std::size_t>(path.number) : not_found;
  }
  // If there is not one name for each argument, a name could select the wrong argument.
  return name_position(names, word, count);
}

/// Reads the path from the argument of type T at `Position`. All keys that have this path share it.
template <class Path, bool Counting, std::size_t Position, class T>
struct ArgumentPath {
  static constexpr bool value = true;  // as a result of checking a key: the path fits
  using Start = At<Path, Path::root, Path::node(Path::root).first, Counting>;

  LATCHKEY_DETAIL_INLINE static Value read_from(const void* const* arguments,
                                                const Reading& reading) {
    return read<Start>(*static_cast<const T*>(arguments[Position]), reading);
  }
};

/// An ArgumentPath, or a type that describes why the path does not fit.
template <class Tree, std::uint16_t Index, bool Counting, class Names, class... Args>
consteval auto resolve() {
  constexpr const Node& node = Tree::parsed.nodes[Index];
  constexpr std::size_t at =
      argument_position(node, Tree::word(Index), text_of<Names>(), sizeof...(Args));
  if constexpr (at < sizeof...(Args)) {
    using Path = PathTree<path_key<path_key_size(node)>(Tree::text, node), node.use>;
    using T = typename TypeAt<at, Args...>::type;
    using Found = ArgumentPath<Path, Counting, at, T>;
    using Result = decltype(read<typename Found::Start>(std::declval<const T&>(),
                                                        std::declval<const Reading&>()));
    if constexpr (Result::value) {
      return Found{};
    } else {
      return Result{};
    }
  } else {
    return refused_argument<Tree, Index, spelled<Names>, sizeof...(Args)>();
  }
}

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop
