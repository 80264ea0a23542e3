// Binds a parsed key to a schema, with the error messages for keys that do not fit.
// SPDX-License-Identifier: BSL-1.0
#include "key/binder.hpp"

#include <range/v3/range/conversion.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/join.hpp>
#include <range/v3/view/transform.hpp>

#include <span>

#include <latchkey/error.hpp>

#include <latchkey/detail/key/about.hpp>

namespace latchkey::inline v1 {
namespace detail {
namespace {

using reflect::Shape;
using reflect::TypeInfo;

constexpr std::string_view comma = ", ";

std::string named(const TypeInfo& type) { return std::string(type.name); }

std::string count_of_arguments(std::size_t count) {
  return count == 1 ? "there is 1 argument" : "there are " + std::to_string(count) + " arguments";
}

std::string fields_of(const TypeInfo& type) {
  return std::span(type.fields, type.field_count) |
         ranges::views::transform(&reflect::FieldInfo::name) | ranges::views::join(comma) |
         ranges::to<std::string>();
}

std::string what_to_declare(const TypeInfo& type) {
  return named(type) +
         " has not told its fields to keys from files: write "
         "LATCHKEY_REFLECT(" +
         named(type) + ") or LATCHKEY_FIELDS(" + named(type) + ", ...) beside it";
}

std::string what_would_give_text(const TypeInfo& type) {
  return "std::string latchkey_key(const " + named(type) + "&) beside it";
}

std::string why_no_leaf(const TypeInfo& type) {
  switch (type.shape) {
    case Shape::floating: return "a floating-point number, which makes no key";
    case Shape::sequence:
    case Shape::map:
      return "a container, which makes no key: write [0], ['text'] or [*] after "
             "it";
    case Shape::object:
      return type.declared
                 ? "an object, which makes no key: name one of its fields: " + fields_of(type) +
                       "; or write " + what_would_give_text(type)
                 : "an object, which makes no key; " + what_to_declare(type) + ", or " +
                       what_would_give_text(type);
    default: return "of type " + named(type) + ", which makes no key";
  }
}

bool is_counted(Shape shape) {
  return shape == Shape::text || shape == Shape::sequence || shape == Shape::map;
}

}  // namespace

BoundPath Binder::bind(std::uint16_t index) const {
  const Node& path = key_.nodes_[index];
  BoundPath bound;
  bound.use = path.use;
  bound.argument = argument(path);
  const TypeInfo* type = through(bound, schema_[bound.argument].type, path.first == 0);
  for (std::uint16_t at = path.first; at != 0; at = key_.nodes_[at].next) {
    const BoundStep& taken = bound.steps.emplace_back(step(path, key_.nodes_[at], *type));
    bound.kept = bound.kept || (taken.field != nullptr && taken.field->by_value);
    type = through(bound, taken.field != nullptr ? taken.field->type : type->target,
                   key_.nodes_[at].next == 0);
  }
  check_leaf(path, *type);
  bound.leaf = type;
  return bound;
}

std::size_t Binder::argument(const Node& path) const {
  if (path.kind == NodeKind::position) {
    if (path.number < schema_.size()) return static_cast<std::size_t>(path.number);
    refuse_unknown(path, "position",
                   "; " + count_of_arguments(schema_.size()) + ", counted from 0");
  }
  for (std::size_t i = 0; i < schema_.size(); ++i) {
    if (schema_[i].name == key_.word(path)) return i;
  }
  refuse_name(path);
}

// Pointers, optionals and wrappers are implicit steps. If one of them has a text of its own and is
// the last, the path ends at it.
const TypeInfo* Binder::through(BoundPath& path, const TypeInfo* type, bool last) const {
  while (reflect::is_looked_through(type->shape) && !(last && makes_text(*type, path.use))) {
    BoundStep& step = path.steps.emplace_back();
    step.type = type;
    type = type->target;
  }
  return type;
}

BoundStep Binder::step(const Node& path, const Node& node, const TypeInfo& type) const {
  using Kind = BoundStep::Kind;
  BoundStep step;
  step.type = &type;
  switch (node.kind) {
    case NodeKind::index:
      if (type.visit_number == nullptr) {
        refuse(node, "indexes containers, and maps with integer keys, not the type " + named(type));
      }
      step.kind = Kind::number;
      step.number = node.number;
      return step;
    case NodeKind::text_index:
      if (type.visit_text == nullptr) {
        refuse(node, "indexes maps with text keys, not the type " + named(type));
      }
      step.kind = Kind::text;
      step.text = key_.word(node);
      return step;
    case NodeKind::star:
      if (type.shape != Shape::sequence) {
        refuse(path, "is of type " + named(type) + ": [*] takes each element of a container");
      }
      step.kind = Kind::star;
      return step;
    default: return member(node, type);
  }
}

BoundStep Binder::member(const Node& node, const TypeInfo& type) const {
  for (std::size_t i = 0; i < type.field_count; ++i) {
    if (type.fields[i].name != key_.word(node)) continue;
    BoundStep step;
    step.kind = BoundStep::Kind::field;
    step.type = &type;
    step.field = &type.fields[i];
    return step;
  }
  refuse_member(node, type);
}

void Binder::check_leaf(const Node& path, const TypeInfo& type) const {
  switch (path.use) {
    case Use::integer:
      if (reflect::is_integer(type.shape)) return;
      refuse(path, "is of type " + named(type) + ": '%' needs an integer before it");
    case Use::size:
      if (is_counted(type.shape) || makes_text(type, path.use)) return;
      refuse(path, "is of type " + named(type) +
                       ": size() counts a container's elements or a text's bytes");
    case Use::value:
      if (reflect::is_leaf(type.shape) || makes_text(type, path.use)) return;
      refuse(path, "is " + why_no_leaf(type));
  }
}

void Binder::refuse(const Node& at, const std::string& sentence) const {
  const std::string_view word = is_path(at) ? key_.path(at) : key_.word(at);
  throw KeyError(about_key(key_.text(), at.begin) + in_quotes(word) + " " + sentence);
}

// Rejects a name that nothing of this kind has.
void Binder::refuse_unknown(const Node& at, const char* kind, const std::string& rest) const {
  throw KeyError(about_key(key_.text(), at.begin) + "unknown " + kind + " " +
                 in_quotes(key_.word(at)) + rest);
}

void Binder::refuse_name(const Node& path) const {
  const auto has_name = [](std::string_view name) { return !name.empty(); };
  const auto names = schema_ | ranges::views::transform(&SchemaArgument::name) |
                     ranges::views::filter(has_name) | ranges::views::join(comma) |
                     ranges::to<std::string>();
  if (schema_.empty()) refuse_unknown(path, "argument", "; there are none");
  if (names.empty()) refuse_unknown(path, "argument", "; expected a position: {0}, {1}, ...");
  refuse_unknown(path, "argument", "; expected one of " + names);
}

void Binder::refuse_member(const Node& node, const TypeInfo& type) const {
  if (type.shape != Shape::object) {
    refuse_unknown(node, "field", "; the type " + named(type) + " has none");
  }
  if (!type.declared) refuse(node, "cannot be found: " + what_to_declare(type));
  refuse_unknown(node, "field", " of " + named(type) + "; expected one of " + fields_of(type));
}

}  // namespace detail

BoundKey bind_key(ParsedKey key, Schema schema) {
  BoundKey bound;
  bound.key_ = std::make_unique<const ParsedKey>(std::move(key));
  const detail::Binder binder(*bound.key_, schema);
  const auto& nodes = bound.key_->nodes_;
  bound.paths_.resize(bound.key_->parse_.path_count);
  const auto end = static_cast<std::uint16_t>(nodes.size());  // 1 KiB of text has fewer nodes
  for (std::uint16_t index = 1; index < end; ++index) {
    if (detail::is_path(nodes[index])) bound.paths_[nodes[index].slot] = binder.bind(index);
  }
  return bound;
}

}  // namespace latchkey::inline v1
