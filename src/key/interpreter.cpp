// Renders keys from syntax trees and values.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/detail/key/interpreter.hpp>

#include <latchkey/detail/key/failure.hpp>
#include <latchkey/detail/key/write.hpp>

namespace latchkey::inline v1::detail {
namespace {

class Interpreter {
 public:
  Interpreter(const KeyData& key, const Value* values)
      : text_(key.text.data()), nodes_(key.nodes), values_(values) {}

  template <class Out>
  Failure put(const Node& node, Style style, Out& out) const {
    switch (node.kind) {
      case NodeKind::text:
        put_text(out, {text_ + node.begin, node.length}, Style{true, style.letters});
        return {};
      case NodeKind::name:
      case NodeKind::position: return put_value(node, style, out);
      case NodeKind::join:
        for (std::uint16_t at = node.first; at != 0; at = nodes_[at].next) {
          if (const Failure failure = put(nodes_[at], style, out)) return failure;
        }
        return {};
      case NodeKind::alternative: {
        const auto mark = out.mark();
        if (!put(child(node), style, out)) return {};
        out.reset(mark);
        return put(second_child(node), style, out);
      }
      case NodeKind::lower:
      case NodeKind::upper: {
        const Letters own = node.kind == NodeKind::lower ? Letters::lower : Letters::upper;
        const Letters letters = style.letters == Letters::kept ? own : style.letters;
        return put(child(node), Style{style.raw, letters}, out);
      }
      case NodeKind::raw: return put(child(node), Style{true, style.letters}, out);
      default: {
        Integer result;
        const Failure failure = integer(node, result);
        if (!failure) put_integer(out, result);
        return failure;
      }
    }
  }

 private:
  const Node& child(const Node& node) const { return nodes_[node.first]; }
  const Node& second_child(const Node& node) const { return nodes_[child(node).next]; }

  Failure failure_of(const Node& path) const {
    return {static_cast<std::uint16_t>(&path - nodes_), values_[path.slot].reason};
  }

  template <class Out>
  Failure put_value(const Node& path, Style style, Out& out) const {
    const Value& value = values_[path.slot];
    if (value.reason != Reason::none) [[unlikely]] {
      return failure_of(path);
    }
    if (value.is_text) {
      put_text(out, value.text, style);
    } else {
      put_integer(out, value.integer);
    }
    return {};
  }

  Failure integer(const Node& node, Integer& result) const {
    switch (node.kind) {
      case NodeKind::hash: {
        Fnv1a hash;
        const Failure failure = put(child(node), Style{}, hash);
        result = {hash.finished(), false};
        return failure;
      }
      case NodeKind::modulo: {
        const Failure failure = integer(child(node), result);
        result = result.modulo(node.number);
        return failure;
      }
      case NodeKind::alternative:
        if (!integer(child(node), result)) return {};
        return integer(second_child(node), result);
      case NodeKind::size: return integer(child(node), result);
      default:
        result = values_[node.slot].integer;
        return values_[node.slot].reason == Reason::none ? Failure{} : failure_of(node);
    }
  }

  const char* text_;
  const Node* nodes_;
  const Value* values_;
};

}  // namespace

Failure put_node(KeyBuffer& out, const KeyData& key, std::uint16_t node, const Value* values) {
  return Interpreter(key, values).put(key.nodes[node], Style{}, out);
}

void refuse_key(const KeyData& key, Failure failure) {
  if (!failure) throw_too_long(key.text);
  const Node& path = key.nodes[failure.node];
  throw_failure(key.text, key.text.substr(path.begin, path.extent), failure.reason);
}

void render_key(KeyBuffer& out, const KeyData& key, const Value* values) {
  out.clear();
  const Failure failure = put_node(out, key, key.root, values);
  if (failure || out.overflowed()) refuse_key(key, failure);
}

void require_value(const KeyData& key, std::uint16_t path, const Value& value) {
  if (value.reason != Reason::none) refuse_key(key, {path, value.reason});
}

}  // namespace latchkey::inline v1::detail
