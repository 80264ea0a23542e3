// A parsed key: nodes in one flat array that refer to spans of the template's text.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

enum class NodeKind : std::uint8_t {
  text,         // the template's own bytes
  join,         // children one after another
  alternative,  // first ?: second
  modulo,       // child % number
  lower,        // functions of one child
  upper,        //
  hash,         //
  size,         //
  raw,          //
  name,         // a path that begins with an argument's name; its children are steps
  position,     // a path that begins with an argument's position (number)
  member,       // .name
  index,        // [number]
  text_index,   // ['text']
  star,         // [*]
};

/// How the value of a path is used.
enum class Use : std::uint8_t {
  value,    // its text
  integer,  // a '%' follows
  size,     // size(path)
};

/// Node 0 is a sentinel: the end of every list.
struct Node {
  NodeKind kind = NodeKind::text;
  Use use = Use::value;
  std::uint16_t begin = 0;  // the node's own word: template[begin, begin + length)
  std::uint16_t length = 0;
  std::uint16_t extent = 0;  // a path's whole text: template[begin, begin + extent)
  std::uint16_t first = 0;   // first child
  std::uint16_t next = 0;    // next child of the same parent
  std::uint16_t slot = 0;    // a path's place among the key's paths
  std::uint64_t number = 0;  // a position, an index, what follows '%'
};

/// One enumerator for each syntax error. The messages are in mistake.cpp, the compile-time names in
/// mistake.hpp.
enum class SyntaxError : std::uint8_t {
  none,
  key_is_empty,
  template_is_too_long,
  placeholder_is_never_closed,
  placeholder_is_empty,
  closing_brace_without_an_opening_one,
  brace_inside_an_expression,
  text_is_never_closed,
  value_is_empty_text,
  value_expected,
  end_of_expression_expected,
  parenthesis_is_never_closed,
  bracket_is_never_closed,
  member_name_expected,
  index_expected,
  quote_inside_an_index,
  number_is_too_large,
  modulus_expected,
  modulus_is_zero,
  modulus_of_text,
  function_unknown,
  size_takes_a_path,
  more_than_one_star,
  values_with_no_separator_between,
  nested_too_deeply,
};

constexpr bool is_path(const Node& node) {
  return node.kind == NodeKind::name || node.kind == NodeKind::position;
}

/// The result of parsing: the root of the tree, or the first error and the word that it is about.
struct Parse {
  SyntaxError mistake = SyntaxError::none;
  std::uint16_t at = 0;
  std::uint16_t length = 0;
  std::uint16_t root = 0;
  std::uint16_t star = 0;  // the path that holds [*], or 0
  std::uint16_t path_count = 0;
  std::uint16_t node_count = 0;
};

inline constexpr std::size_t max_template_size = 4096;

/// The number of nodes that a template of that size can need at most: each node consumes a byte of
/// the text, except node 0 and the root.
constexpr std::size_t node_capacity(std::size_t template_size) { return template_size + 3; }

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop
