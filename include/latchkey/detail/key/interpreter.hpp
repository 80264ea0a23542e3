// Renders a key from its syntax tree and the values of its paths, for compiled and parsed keys.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <string_view>

#include <latchkey/detail/key/node.hpp>
#include <latchkey/detail/key/value.hpp>
#include <latchkey/key_buffer.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

/// A view of a parsed key.
struct KeyData {
  std::string_view text;
  const Node* nodes;
  std::uint16_t root;
};

/// Appends the text of one node. `values` are indexed by the paths' slots.
Failure put_node(KeyBuffer& out, const KeyData& key, std::uint16_t node, const Value* values);

/// Throws KeyError: for `failure`, or because the key is longer than 1 KiB.
[[noreturn]] void refuse_key(const KeyData& key, Failure failure);

/// Replaces the content of `out`. `values` are indexed by the paths' slots. Throws KeyError if a
/// required value is absent or the key is longer than 1 KiB.
void render_key(KeyBuffer& out, const KeyData& key, const Value* values);

/// Throws KeyError if `value`, of the path at node `path`, is absent.
void require_value(const KeyData& key, std::uint16_t path, const Value& value);

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop
