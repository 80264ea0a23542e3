// Key templates whose values another language reads.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <latchkey/detail/key/about.hpp>
#include <latchkey/detail/key/interpreter.hpp>
#include <latchkey/error.hpp>
#include <latchkey/key_buffer.hpp>
#include <latchkey/parsed_key.hpp>

#include "c/errors.hpp"

namespace latchkey::inline v1::detail {

/// A parsed key with its paths, whose values are given and not read from C++ objects. Immutable.
class ForeignKey {
 public:
  explicit ForeignKey(std::string_view text)
      : key_(parse_key(text)), paths_(key_.parse_.path_count) {
    std::size_t steps = 0;
    for (const Node& node : nodes()) steps += is_path(node) ? steps_of(node) : 0;
    steps_.reserve(steps);  // the paths point to them
    for (const Node& node : nodes()) {
      if (is_path(node)) paths_[node.slot] = path_of(node);
    }
  }
  ForeignKey(const ForeignKey&) = delete;
  ForeignKey& operator=(const ForeignKey&) = delete;

  [[nodiscard]] const std::vector<latchkey_path>& paths() const noexcept { return paths_; }

  /// Throws KeyError, and std::invalid_argument for a kind that does not exist.
  void render(KeyBuffer& out, const latchkey_value* given) const {
    std::vector<Value> values(paths_.size());
    for (std::size_t slot = 0; slot < values.size(); ++slot) {
      values[slot] = value_of(given[slot], paths_[slot]);
    }
    render_key(out, {key_.text_, key_.nodes_.data(), key_.parse_.root}, values.data());
  }

 private:
  [[nodiscard]] std::span<const Node> nodes() const {
    return std::span(key_.nodes_).subspan(1, key_.parse_.node_count);  // node 0 is a sentinel
  }
  [[nodiscard]] std::size_t steps_of(const Node& path) const {
    std::size_t count = 0;
    for (std::uint16_t at = path.first; at != 0; at = key_.nodes_[at].next) ++count;
    return count;
  }

  /// A copy that ends with a NUL.
  const char* keep(std::string_view text) {
    return texts_.emplace_back(std::make_unique<std::string>(text))->c_str();
  }

  latchkey_path path_of(const Node& node) {
    latchkey_path path{};
    path.text = keep(key_.path(node));
    if (node.kind == NodeKind::name) path.argument = keep(key_.word(node));
    path.position = node.number;
    path.use = use_of(node.use);
    path.steps = steps_.data() + steps_.size();
    for (std::uint16_t at = node.first; at != 0; at = key_.nodes_[at].next) {
      steps_.push_back(step_of(key_.nodes_[at]));
      ++path.step_count;
    }
    return path;
  }

  latchkey_step step_of(const Node& node) {
    switch (node.kind) {
      case NodeKind::index: return {LATCHKEY_INDEX, nullptr, node.number};
      case NodeKind::text_index: return {LATCHKEY_TEXT_INDEX, keep(key_.word(node)), 0};
      case NodeKind::star: return {LATCHKEY_STAR, nullptr, 0};
      default: return {LATCHKEY_MEMBER, keep(key_.word(node)), 0};
    }
  }

  static latchkey_use use_of(Use use) noexcept {
    if (use == Use::integer) return LATCHKEY_USE_INTEGER;
    return use == Use::size ? LATCHKEY_USE_SIZE : LATCHKEY_USE_VALUE;
  }

  [[nodiscard]] Value value_of(const latchkey_value& given, const latchkey_path& path) const {
    switch (given.kind) {
      case LATCHKEY_ABSENT: return no_value(Reason::absent);
      case LATCHKEY_NO_ELEMENT: return no_value(Reason::no_element);
      case LATCHKEY_TEXT: return text_of({given.text, given.length}, path);
      case LATCHKEY_INTEGER: return integer_value({given.magnitude, given.negative != 0});
    }
    throw std::invalid_argument("unknown kind of a value; expected a latchkey_value_kind");
  }

  [[nodiscard]] Value text_of(std::string_view text, const latchkey_path& path) const {
    if (path.use == LATCHKEY_USE_SIZE) return integer_value({text.size(), false});
    if (path.use == LATCHKEY_USE_INTEGER) {
      throw KeyError(about_key(key_.text()) + path.text +
                     " is a text; expected an integer, because a '%' follows: write hash(" +
                     path.text + ")");
    }
    return text.empty() ? no_value(Reason::empty) : text_value(text);
  }

  const ParsedKey key_;
  std::vector<std::unique_ptr<std::string>> texts_{};
  std::vector<latchkey_step> steps_{};
  std::vector<latchkey_path> paths_;
};

}  // namespace latchkey::inline v1::detail

struct latchkey_key {
  explicit latchkey_key(std::string_view text) : key(text) {}

  const latchkey::detail::ForeignKey key;
};

using latchkey::detail::c::guarded;

latchkey_key* latchkey_key_parse(const char* text, latchkey_error** error) noexcept {
  return guarded<latchkey_key*>(error, nullptr, [&] {
    if (text == nullptr) throw std::invalid_argument("the key template is NULL");
    return std::make_unique<latchkey_key>(text).release();
  });
}

const latchkey_path* latchkey_key_paths(const latchkey_key* key, size_t* count) noexcept {
  *count = key->key.paths().size();
  return key->key.paths().data();
}

int latchkey_key_render(const latchkey_key* key, const latchkey_value* values, char* out,
                        latchkey_error** error) noexcept {
  return guarded(error, -1, [&] {
    latchkey::KeyBuffer text;
    key->key.render(text, values);
    std::memcpy(out, text.view().data(), text.size());
    out[text.size()] = '\0';
    return static_cast<int>(text.size());
  });
}

void latchkey_key_free(latchkey_key* key) noexcept { delete key; }
