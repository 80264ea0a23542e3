// A parsed key: nodes in one flat array that refer to spans of the template's text.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

enum class NodeKind : std::uint8_t {
  TEXT,        // the template's own bytes
  JOIN,        // children one after another
  DEFAULT,     // first ?: second
  MODULO,      // child % number
  LOWER,       // functions of one child
  UPPER,       //
  HASH,        //
  SIZE,        //
  RAW,         //
  NAME,        // a path that begins with an argument's name; its children are steps
  POSITION,    // a path that begins with an argument's position (number)
  MEMBER,      // .name
  INDEX,       // [number]
  TEXT_INDEX,  // ['text']
  STAR,        // [*]
};

/// How the value of a path is used.
enum class Use : std::uint8_t {
  VALUE,    // its text
  INTEGER,  // a '%' follows
  SIZE,     // size(path)
};

/// Node 0 is a sentinel: the end of every list.
struct Node {
  NodeKind kind = NodeKind::TEXT;
  Use use = Use::VALUE;
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
  NONE,
  KEY_IS_EMPTY,
  TEMPLATE_IS_TOO_LONG,
  PLACEHOLDER_IS_NEVER_CLOSED,
  PLACEHOLDER_IS_EMPTY,
  CLOSING_BRACE_WITHOUT_AN_OPENING_ONE,
  BRACE_INSIDE_AN_EXPRESSION,
  TEXT_IS_NEVER_CLOSED,
  VALUE_IS_EMPTY_TEXT,
  VALUE_EXPECTED,
  END_OF_EXPRESSION_EXPECTED,
  PARENTHESIS_IS_NEVER_CLOSED,
  BRACKET_IS_NEVER_CLOSED,
  MEMBER_NAME_EXPECTED,
  INDEX_EXPECTED,
  QUOTE_INSIDE_AN_INDEX,
  NUMBER_IS_TOO_LARGE,
  MODULUS_EXPECTED,
  MODULUS_IS_ZERO,
  MODULUS_OF_TEXT,
  FUNCTION_UNKNOWN,
  SIZE_TAKES_A_PATH,
  MORE_THAN_ONE_STAR,
  VALUES_WITH_NO_SEPARATOR_BETWEEN,
  NESTED_TOO_DEEPLY,
};

constexpr bool is_path(const Node& node) {
  return node.kind == NodeKind::NAME || node.kind == NodeKind::POSITION;
}

/// The result of parsing: the root of the tree, or the first error and the word that it is about.
struct Parse {
  SyntaxError mistake = SyntaxError::NONE;
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
