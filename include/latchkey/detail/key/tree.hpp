// The syntax tree of a key as a compile-time constant: parsed once per template.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include <latchkey/detail/key/mistake.hpp>
#include <latchkey/detail/key/node.hpp>
#include <latchkey/detail/key/parser.hpp>
#include <latchkey/detail/placed_text.hpp>
#include <latchkey/fixed_string.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

template <std::size_t Capacity>
struct ParsedTemplate {
  Parse parse;
  Node nodes[Capacity];
};

// One type for many lengths: the number of types determines the compile time of a file with many
// keys.
constexpr std::size_t rounded_capacity(std::size_t size) {
  return (node_capacity(size) + 31) / 32 * 32;
}

template <std::size_t Capacity>
consteval ParsedTemplate<Capacity> parse_template(std::string_view text) {
  ParsedTemplate<Capacity> result{};
  result.parse = Parser(text, result.nodes).run();
  return result;
}

template <std::size_t Count>
struct NodeList {
  Node nodes[Count];
};

template <std::size_t Count>
consteval NodeList<Count> first_nodes(const Node* nodes) {
  NodeList<Count> result{};
  for (std::size_t index = 0; index < Count; ++index) result.nodes[index] = nodes[index];
  return result;
}

/// The index of the path with that slot.
consteval std::uint16_t path_in(const Node* nodes, std::size_t slot) {
  std::uint16_t index = 1;
  while (!is_path(nodes[index]) || nodes[index].slot != slot) ++index;
  return index;
}

/// The first of the top-level pieces of a key: of the root's children, or the root itself. The
/// others follow it as `next`.
constexpr std::uint16_t first_piece(const Node* nodes, std::uint16_t root) {
  return nodes[root].kind == NodeKind::join ? nodes[root].first : root;
}

consteval std::size_t piece_count(const Node* nodes, std::uint16_t root) {
  std::size_t count = 1;
  std::uint16_t at = first_piece(nodes, root);
  while ((at = nodes[at].next) != 0) ++count;
  return count;
}

/// `Text` is a captureless callable that returns a PlacedText.
template <class Text>
struct Tree {
  static constexpr std::string_view text = text_of<Text>();
  static constexpr auto parsed = parse_template<rounded_capacity(text.size())>(text);
  static constexpr const Parse& parse = parsed.parse;

  using Slots = std::make_index_sequence<parse.path_count>;
  using Pieces = std::make_index_sequence<piece_count(parsed.nodes, parse.root)>;

  /// All nodes, for use at run time.
  static constexpr auto kept = first_nodes<parse.node_count + 1>(parsed.nodes);

  static constexpr const Node& node(std::uint16_t index) { return parsed.nodes[index]; }

  static constexpr std::string_view span(std::size_t begin, std::size_t length) {
    return text.substr(begin, length);
  }
  static constexpr std::string_view word(std::uint16_t index) {
    return span(node(index).begin, node(index).length);
  }

  // As template arguments, for error messages only.
  template <std::size_t Begin, std::size_t Length>
  static constexpr FixedString<Length> shown{span(Begin, Length)};
  template <std::uint16_t Index>
  static constexpr auto shown_word = shown<parsed.nodes[Index].begin, parsed.nodes[Index].length>;
  template <std::uint16_t Index>
  static constexpr auto shown_path = shown<parsed.nodes[Index].begin, parsed.nodes[Index].extent>;
};

/// RightSyntax, or a type that describes the first error.
template <class Tree, SyntaxError Error = Tree::parse.mistake>
struct SyntaxOf {
  using type = decltype(syntax_of<Tree::template shown<0, Tree::text.size()>, Error,
                                  Tree::template shown<Tree::parse.at, Tree::parse.length>>());
};
template <class Tree>
struct SyntaxOf<Tree, SyntaxError::none> {
  using type = RightSyntax;
};

/// `path` as a key of its own, "#path", so that keys with equal paths share the functions that read
/// them.
consteval std::size_t path_key_size(const Node& path) { return path.extent + 1U; }

template <std::size_t Size>
consteval FixedString<Size> path_key(std::string_view text, const Node& path) {
  FixedString<Size> key;
  key.data[0] = '#';
  for (std::size_t at = 1; at < Size; ++at) key.data[at] = text[path.begin + at - 1];
  return key;
}

/// The tree of one path, made by path_key(), and what its value is used for.
template <FixedString Path, Use use>
struct PathTree : Tree<Literal<Path>> {
  using Whole = Tree<Literal<Path>>;

  static constexpr std::uint16_t root = Whole::parse.root;
  static constexpr Node node(std::uint16_t index) {
    Node node = Whole::node(index);
    if (index == root) node.use = use;
    return node;
  }
};

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop
