// The syntax tree of a key as a compile-time constant: parsed once per template.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include <latchkey/fixed_string.hpp>
#include <latchkey/key/mistake.hpp>
#include <latchkey/key/node.hpp>
#include <latchkey/key/parser.hpp>

namespace latchkey::detail {

template <std::size_t Capacity>
struct ParsedTemplate {
  Parse parse;
  Node nodes[Capacity];
};

// One type for many lengths: the number of types determines the compile time of a file with many
// keys.
template <std::size_t Size>
using ParsedFor = ParsedTemplate<(node_capacity(Size) + 31) / 32 * 32>;

template <FixedString Template>
struct Tree {
  static constexpr std::string_view text() { return Template.view(); }

  static constexpr auto parsed = [] {
    ParsedFor<Template.size()> result{};
    result.parse = Parser(Template.view(), result.nodes).run();
    return result;
  }();
  static constexpr const Parse& parse = parsed.parse;

  static constexpr const Node& node(std::uint16_t index) { return parsed.nodes[index]; }

  /// The index of the path with that slot.
  static constexpr std::uint16_t path_in(std::size_t slot) {
    std::uint16_t index = 1;
    while (!is_path(node(index)) || node(index).slot != slot) ++index;
    return index;
  }

  /// The top-level pieces of the key in order: the root's children, or the root itself.
  static constexpr bool is_join = node(parse.root).kind == NodeKind::JOIN;
  static constexpr std::size_t piece_count = [] {
    std::size_t count = 1;
    std::uint16_t at = is_join ? node(parse.root).first : parse.root;
    while ((at = node(at).next) != 0) ++count;
    return count;
  }();
  static constexpr std::uint16_t piece(std::size_t index) {
    std::uint16_t at = is_join ? node(parse.root).first : parse.root;
    for (; index > 0; --index) at = node(at).next;
    return at;
  }

  static constexpr std::string_view span(std::size_t begin, std::size_t length) {
    return text().substr(begin, length);
  }
  static constexpr std::string_view word(std::uint16_t index) {
    return span(node(index).begin, node(index).length);
  }
  static constexpr std::string_view path(std::uint16_t index) {
    return span(node(index).begin, node(index).extent);
  }

  // As template arguments, for error messages only.
  template <std::size_t Begin, std::size_t Length>
  static constexpr FixedString<Length> shown{span(Begin, Length)};
  template <std::uint16_t Index>
  static constexpr auto shown_word = shown<node(Index).begin, node(Index).length>;
  static constexpr auto wrong_word = shown<parse.at, parse.length>;
  template <std::uint16_t Index>
  static constexpr auto shown_path = shown<node(Index).begin, node(Index).extent>;
};

}  // namespace latchkey::detail
