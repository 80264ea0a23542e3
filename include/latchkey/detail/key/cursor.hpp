// The state that all parts of the parser share: position, nodes, and the first error.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <latchkey/detail/key/bytes.hpp>
#include <latchkey/detail/key/node.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

class Cursor {
 protected:
  using Index = std::uint16_t;

  // Collects children in order. A list of one child is that child.
  struct List {
    Index first = 0;
    Index last = 0;
    int size = 0;
  };

  constexpr Cursor(std::string_view text, Node* nodes) : text_(text), nodes_(nodes) {}

  constexpr bool failed() const { return parse_.mistake != SyntaxError::none; }
  constexpr bool at_end() const { return at_ >= text_.size(); }
  constexpr char peek() const { return at_end() ? '\0' : text_[at_]; }
  constexpr bool looking_at(std::string_view word) const {
    return text_.substr(at_, word.size()) == word;
  }

  constexpr void skip_spaces() {
    while (peek() == ' ' || peek() == '\t') ++at_;
  }

  constexpr Index fail(SyntaxError mistake, std::size_t at, std::size_t length) {
    if (!failed()) {
      parse_.mistake = mistake;
      parse_.at = static_cast<Index>(at);
      parse_.length = static_cast<Index>(length);
    }
    return 0;
  }

  constexpr Index make(NodeKind kind, std::size_t begin, std::size_t length) {
    Node& node = nodes_[++parse_.node_count];
    node.kind = kind;
    node.begin = static_cast<Index>(begin);
    node.length = static_cast<Index>(length);
    return parse_.node_count;
  }

  constexpr void add(List& list, Index node) {
    (list.size == 0 ? list.first : nodes_[list.last].next) = node;
    list.last = node;
    ++list.size;
  }

  constexpr Index joined(const List& list) {
    if (list.size == 1) return list.first;
    const Index join = make(NodeKind::join, nodes_[list.first].begin, 0);
    nodes_[join].first = list.first;
    return join;
  }

  // The length of the word that an error quotes: a name, or a single byte.
  constexpr std::size_t word_length(std::size_t begin) const {
    std::size_t end = begin;
    while (end < text_.size() && is_name_byte(text_[end])) ++end;
    if (end == begin && end < text_.size()) ++end;
    return end - begin;
  }

  std::string_view text_;
  Node* nodes_;
  std::size_t at_ = 0;
  Parse parse_;
};

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop
