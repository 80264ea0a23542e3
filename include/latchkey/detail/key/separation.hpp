// Detects adjacent values that make a key ambiguous: ("ab", "c") and ("a", "bc").
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <string_view>

#include <latchkey/detail/key/bytes.hpp>
#include <latchkey/detail/key/node.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

class Separation {
 public:
  constexpr Separation(std::string_view text, const Node* nodes) : text_(text), nodes_(nodes) {}

  /// The value that is not separated from the one before it, or 0.
  constexpr std::uint16_t check(std::uint16_t root) {
    edges_of(root);
    return touching_;
  }

 private:
  // A piece of a key: whether a separator comes before the first value, seen from each side.
  struct Edges {
    bool value = false;
    bool left = false;
    bool right = false;
  };

  constexpr Edges edges_of(std::uint16_t index) {
    const Node& node = nodes_[index];
    switch (node.kind) {
      case NodeKind::text: return text_edges(text_.substr(node.begin, node.length));
      case NodeKind::join: {
        Edges all;
        for (std::uint16_t at = node.first; at != 0; at = nodes_[at].next) {
          all = joined(all, edges_of(at), at);
        }
        return all;
      }
      case NodeKind::alternative: {
        const Edges one = edges_of(node.first);
        const Edges other = edges_of(nodes_[node.first].next);
        return {one.value || other.value, one.left && other.left, one.right && other.right};
      }
      case NodeKind::lower:
      case NodeKind::upper: return edges_of(node.first);
      case NodeKind::raw:
        // The author of raw(...) is responsible for the separation.
        return {true, true, true};
      case NodeKind::hash:
      case NodeKind::modulo: edges_of(node.first); return {true, false, false};
      default: return {true, false, false};
    }
  }

  constexpr Edges joined(Edges left, Edges right, std::uint16_t at) {
    if (left.value && right.value && !left.right && !right.left && touching_ == 0) touching_ = at;
    return {left.value || right.value, left.left || (!left.value && right.left),
            right.right || (!right.value && left.right)};
  }

  static constexpr Edges text_edges(std::string_view text) {
    for (const char byte : text) {
      if (is_separator(byte)) return {false, true, true};
    }
    return {};
  }

  std::string_view text_;
  const Node* nodes_;
  std::uint16_t touching_ = 0;
};

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop
