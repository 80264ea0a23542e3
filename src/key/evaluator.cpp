// Reads the values of bound keys at run time, as read.hpp does in compiled code.
// SPDX-License-Identifier: BSL-1.0
#include <array>

#include <latchkey/error.hpp>
#include <latchkey/parsed_key.hpp>

#include <latchkey/detail/key/about.hpp>

namespace latchkey::inline v1 {
namespace detail {
namespace {

using reflect::Receiver;
using reflect::Shape;
using reflect::TypeInfo;

// Follows the steps of a path. The value of a step may live only during its callback, so each step
// calls the next one from within.
template <class OnLeaf>
class Walk {
 public:
  // Stops before the step `end`.
  Walk(const BoundPath& path, std::size_t end, std::size_t star, OnLeaf& on_leaf)
      : path_(path), end_(end), star_(star), on_leaf_(on_leaf) {}

  Value run(const void* argument) {
    take(0, argument);
    return value_;
  }

 private:
  struct Next {
    Walk* walk;
    std::size_t step;
  };

  void take(std::size_t index, const void* value) {
    if (index == end_) {
      value_ = on_leaf_(value);
      return;
    }
    const BoundStep& step = path_.steps[index];
    Next next{this, index + 1};
    const Receiver receiver{&next, [](void* context, const void* inner) {
                              const Next& to = *static_cast<const Next*>(context);
                              to.walk->take(to.step, inner);
                            }};
    switch (step.kind) {
      case BoundStep::Kind::target:
        return expect(step.type->visit_target(value, receiver), Reason::absent);
      case BoundStep::Kind::field: return step.field->visit(value, receiver);
      case BoundStep::Kind::number:
        return expect(step.type->visit_number(value, step.number, receiver), Reason::no_element);
      case BoundStep::Kind::text:
        return expect(step.type->visit_text(value, step.text, receiver), Reason::no_element);
      case BoundStep::Kind::star:
        return expect(step.type->visit_number(value, star_, receiver), Reason::no_element);
    }
  }

  void expect(bool there, Reason otherwise) {
    if (!there) value_ = no_value(otherwise);
  }

  const BoundPath& path_;
  std::size_t end_;
  std::size_t star_;
  OnLeaf& on_leaf_;
  Value value_;
};

Value text_of(std::string_view text, Use use, bool keep, Scratch& scratch) {
  if (text.data() == nullptr) return no_value(Reason::absent);
  if (use == Use::size) return integer_value({text.size(), false});
  if (text.empty()) return no_value(Reason::empty);
  return text_value(keep ? scratch.keep(text) : text);
}

// Reads a text that is valid only during its callback.
Value read_made_text(const void* value, const BoundPath& path, Scratch& scratch) {
  struct Context {
    Use use;
    Scratch& scratch;
    Value result;
  } context{path.use, scratch, {}};
  path.leaf->make_text(value, {&context, [](void* to, std::string_view text) {
                                 Context& kept = *static_cast<Context*>(to);
                                 kept.result = text_of(text, kept.use, true, kept.scratch);
                               }});
  return context.result;
}

Value read_leaf(const void* value, const BoundPath& path, Scratch& scratch) {
  const TypeInfo& type = *path.leaf;
  if (makes_text(type, path.use)) return read_made_text(value, path, scratch);
  switch (type.shape) {
    case Shape::boolean:
      return text_value(type.read(value).bits != 0 ? std::string_view("true")
                                                   : std::string_view("false"));
    case Shape::signed_integer:
      return integer_value(integer_from(static_cast<std::int64_t>(type.read(value).bits)));
    case Shape::unsigned_integer: return integer_value({type.read(value).bits, false});
    case Shape::character:
    case Shape::text: return text_of(type.read(value).text, path.use, path.kept, scratch);
    default: return integer_value({type.size(value), false});
  }
}

Value read(const BoundPath& path, const void* argument, std::size_t star, Scratch& scratch) {
  const auto on_leaf = [&](const void* value) { return read_leaf(value, path, scratch); };
  return Walk(path, path.steps.size(), star, on_leaf).run(argument);
}

// The number of elements that [*] selects.
Value count_elements(const BoundPath& path, const void* argument) {
  std::size_t end = 0;
  while (path.steps[end].kind != BoundStep::Kind::star) ++end;
  const auto on_container = [&](const void* value) {
    return integer_value({path.steps[end].type->size(value), false});
  };
  return Walk(path, end, 0, on_container).run(argument);
}

}  // namespace
}  // namespace detail

detail::KeyData BoundKey::data() const {
  return {key_->text_, key_->nodes_.data(), key_->parse_.root};
}

void BoundKey::render_element(KeyBuffer& out, std::span<const void* const> arguments,
                              std::size_t element) const {
  constexpr std::size_t usual = 8;
  std::array<detail::Value, usual> few;
  std::vector<detail::Value> many(paths_.size() > usual ? paths_.size() : 0);
  detail::Value* const values = many.empty() ? few.data() : many.data();
  detail::Scratch scratch;
  for (std::size_t slot = 0; slot < paths_.size(); ++slot) {
    const detail::BoundPath& path = paths_[slot];
    values[slot] = detail::read(path, arguments[path.argument], element, scratch);
  }
  detail::render_key(out, data(), values);
}

void BoundKey::render(KeyBuffer& out, std::span<const void* const> arguments) const {
  if (many()) {
    throw KeyError(detail::about_key(text()) + "it has [*], so it is many keys, not one");
  }
  render_element(out, arguments, 0);
}

void BoundKeys::render_many(detail::RenderedKeys& keys,
                            std::span<const void* const> arguments) const {
  for (const BoundKey& key : keys_) key.render_many(keys, arguments);
}

std::vector<std::string> BoundKeys::render_many(std::span<const void* const> arguments) const {
  detail::RenderedKeys keys;
  render_many(keys, arguments);
  return keys.strings();
}

void BoundKey::render_many(detail::RenderedKeys& keys,
                           std::span<const void* const> arguments) const {
  std::size_t count = 1;
  if (many()) {
    const detail::BoundPath& path = paths_[key_->nodes_[key_->parse_.star].slot];
    const detail::Value elements = detail::count_elements(path, arguments[path.argument]);
    detail::require_value(data(), key_->parse_.star, elements);
    count = static_cast<std::size_t>(elements.integer.magnitude);
  }
  for (std::size_t element = 0; element < count; ++element) {
    render_element(keys.add(), arguments, element);
  }
}

std::vector<std::string> BoundKey::render_many(std::span<const void* const> arguments) const {
  detail::RenderedKeys keys;
  render_many(keys, arguments);
  return keys.strings();
}

}  // namespace latchkey::inline v1
