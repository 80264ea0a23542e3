// Keys from a file: parsed, then bound to a call's schema, then rendered for each call.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <latchkey/detail/key/interpreter.hpp>
#include <latchkey/detail/key/node.hpp>
#include <latchkey/detail/key/rendered_keys.hpp>
#include <latchkey/key_buffer.hpp>
#include <latchkey/key_schema.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {
namespace detail {
class Binder;
class ForeignKey;
}  // namespace detail

class BoundKey;

/// The text of a well-formed key. Immutable.
class ParsedKey {
 public:
  [[nodiscard]] std::string_view text() const noexcept { return text_; }
  /// The key has [*]: one key for each element.
  [[nodiscard]] bool many() const noexcept { return parse_.star != 0; }

 private:
  friend ParsedKey parse_key(std::string_view text);
  friend BoundKey bind_key(ParsedKey key, Schema schema);
  friend class BoundKey;
  friend class detail::Binder;
  friend class detail::ForeignKey;

  ParsedKey() = default;

  [[nodiscard]] std::string_view word(const detail::Node& node) const {
    return std::string_view(text_).substr(node.begin, node.length);
  }
  [[nodiscard]] std::string_view path(const detail::Node& node) const {
    return std::string_view(text_).substr(node.begin, node.extent);
  }

  std::string text_;
  std::vector<detail::Node> nodes_;
  detail::Parse parse_;
};

/// Throws KeyError, whose message has the key, the wrong word, its column and the correction.
ParsedKey parse_key(std::string_view text);

namespace detail {

/// One step of a path that fits the schema. All names are resolved.
struct BoundStep {
  enum class Kind : std::uint8_t { target, field, number, text, star } kind = Kind::target;
  const reflect::TypeInfo* type = nullptr;  // the type that the step starts from
  const reflect::FieldInfo* field = nullptr;
  std::uint64_t number = 0;
  std::string_view text;
};

/// The value of this type is rendered by the text that is made from it.
[[nodiscard]] constexpr bool makes_text(const reflect::TypeInfo& type, Use use) {
  if (use == Use::size) return type.text_from == reflect::TextFrom::hook;
  return use == Use::value && type.text_from != reflect::TextFrom::nothing;
}

struct BoundPath {
  Use use = Use::value;
  bool kept = false;  // the path's value is a getter's result, which ends with the call
  std::size_t argument = 0;
  const reflect::TypeInfo* leaf = nullptr;
  std::vector<BoundStep> steps;
};

}  // namespace detail

/// A parsed key that fits the arguments of one decorated call. Immutable, so many threads may use
/// it at once. Move-only, because its steps refer to its text.
class BoundKey {
 public:
  BoundKey(BoundKey&&) noexcept = default;
  BoundKey& operator=(BoundKey&&) noexcept = default;

  [[nodiscard]] std::string_view text() const noexcept { return key_->text(); }
  [[nodiscard]] bool many() const noexcept { return key_->many(); }

  /// Replaces the content of `out` with the same bytes that Key<text>::render writes. `arguments`
  /// are argument_pointers() of a call with the schema's types. Throws KeyError if a value is
  /// absent or empty, if the key is longer than 1 KiB, or if it has [*].
  void render(KeyBuffer& out, std::span<const void* const> arguments) const;

  /// Like Key<text>::render_many.
  [[nodiscard]] std::vector<std::string> render_many(std::span<const void* const> arguments) const;
  /// Like the other render_many, for the library's own use: adds the keys to `keys`.
  void render_many(detail::RenderedKeys& keys, std::span<const void* const> arguments) const;

 private:
  friend BoundKey bind_key(ParsedKey key, Schema schema);
  friend class detail::Binder;

  BoundKey() = default;

  void render_element(KeyBuffer& out, std::span<const void* const> arguments,
                      std::size_t element) const;
  [[nodiscard]] detail::KeyData data() const;

  std::unique_ptr<const ParsedKey> key_;
  std::vector<detail::BoundPath> paths_;  // indexed by slot
};

/// The keys that a policy gives one lock: one, or several that are taken together. Immutable.
class BoundKeys {
 public:
  /// `keys` is not empty.
  explicit BoundKeys(std::vector<BoundKey> keys) noexcept : keys_(std::move(keys)) {}

  /// More than one key, or one with [*].
  [[nodiscard]] bool many() const noexcept { return keys_.size() > 1 || keys_.front().many(); }
  /// As BoundKey::render, of the only key.
  void render(KeyBuffer& out, std::span<const void* const> arguments) const {
    keys_.front().render(out, arguments);
  }
  /// As BoundKey::render_many, of all keys.
  [[nodiscard]] std::vector<std::string> render_many(std::span<const void* const> arguments) const;
  void render_many(detail::RenderedKeys& keys, std::span<const void* const> arguments) const;

 private:
  std::vector<BoundKey> keys_;
};

/// Throws KeyError if the key does not fit: for a wrong argument or field, with the existing ones;
/// for a type that does not declare its fields, with the declaration to write; for a value that
/// makes no key.
BoundKey bind_key(ParsedKey key, Schema schema);

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
