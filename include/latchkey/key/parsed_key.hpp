// Keys that come from a file: parsed, then bound to a call's schema, then
// rendered for each call.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/key/interpreter.hpp>
#include <latchkey/key/key_buffer.hpp>
#include <latchkey/key/node.hpp>
#include <latchkey/key/schema.hpp>

namespace latchkey {
namespace detail {
class Binder;
}  // namespace detail

class BoundKey;

/// A key's text, known to be well-formed. Immutable.
class ParsedKey {
 public:
  [[nodiscard]] std::string_view text() const noexcept { return text_; }
  /// It has [*]: one key for each element.
  [[nodiscard]] bool many() const noexcept { return parse_.star != 0; }

 private:
  friend ParsedKey parse_key(std::string_view text);
  friend BoundKey bind_key(ParsedKey key, Schema schema);
  friend class BoundKey;
  friend class detail::Binder;

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

/// Throws KeyError, whose sentence names the key, the offending word, its
/// column and what would be right.
ParsedKey parse_key(std::string_view text);

namespace detail {

/// One step of a path that is known to fit: no name is left to look up.
struct BoundStep {
  enum class Kind : std::uint8_t { TARGET, FIELD, NUMBER, TEXT, STAR } kind = Kind::TARGET;
  const reflect::TypeInfo* type = nullptr;  // of what the step is taken from
  const reflect::FieldInfo* field = nullptr;
  std::uint64_t number = 0;
  std::string_view text;
};

/// What is wanted of a value of this type is the text that is made of it.
[[nodiscard]] constexpr bool makes_text(const reflect::TypeInfo& type, Use use) {
  if (use == Use::SIZE) return type.text_from == reflect::TextFrom::HOOK;
  return use == Use::VALUE && type.text_from != reflect::TextFrom::NOTHING;
}

struct BoundPath {
  Use use = Use::VALUE;
  bool kept = false;  // what it ends at ends with a getter's call
  std::size_t argument = 0;
  const reflect::TypeInfo* leaf = nullptr;
  std::vector<BoundStep> steps;
};

}  // namespace detail

/// A parsed key that fits the arguments of one decorated call. Immutable, so
/// usable from many threads at once; move-only, because its steps refer to its
/// text.
class BoundKey {
 public:
  BoundKey(BoundKey&&) noexcept = default;
  BoundKey& operator=(BoundKey&&) noexcept = default;

  [[nodiscard]] std::string_view text() const noexcept { return key_->text(); }
  [[nodiscard]] bool many() const noexcept { return key_->many(); }

  /// Replaces what `out` holds with the same bytes that Key<text>::render
  /// gives. `arguments` are argument_pointers() of a call with the schema's
  /// types. Throws KeyError: a value is absent or empty, the key is longer than
  /// 1 KiB, or it is many keys.
  void render(KeyBuffer& out, std::span<const void* const> arguments) const;

  /// As Key<text>::render_many.
  [[nodiscard]] std::vector<std::string> render_many(std::span<const void* const> arguments) const;

 private:
  friend BoundKey bind_key(ParsedKey key, Schema schema);
  friend class detail::Binder;

  BoundKey() = default;

  void render_element(KeyBuffer& out, std::span<const void* const> arguments,
                      std::size_t element) const;
  [[nodiscard]] detail::KeyData data() const;

  std::unique_ptr<const ParsedKey> key_;
  std::vector<detail::BoundPath> paths_;  // by their slots
};

/// Throws KeyError where the key does not fit: a wrong argument or field, with
/// those that are there; a type that has not told its fields, with what to
/// write; a leaf that makes no key.
BoundKey bind_key(ParsedKey key, Schema schema);

}  // namespace latchkey
