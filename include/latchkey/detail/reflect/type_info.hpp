// Types as data, for keys that are known only at run time. Instantiated for the types of a call's
// arguments. A type that does not declare its fields is opaque, so that no large type is
// instantiated.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include <latchkey/detail/reflect/made_text.hpp>
#include <latchkey/detail/reflect/object.hpp>
#include <latchkey/detail/reflect/shape.hpp>
#include <latchkey/detail/reflect/type_name.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::reflect {

/// Receives a value while it lives: a getter may return one that ends with the call.
struct Receiver {
  void* context;
  void (*receive)(void* context, const void* value);

  void operator()(const void* value) const { receive(context, value); }
};

/// Like Receiver, for a text.
struct TextReceiver {
  void* context;
  void (*receive)(void* context, std::string_view text);
};

/// The value of a leaf. Integers: `bits` as if cast to 64 bits. `text` is the text of TEXT and
/// CHARACTER; its data() is null for a null pointer to characters.
struct Leaf {
  std::uint64_t bits = 0;
  std::string_view text;
};

struct FieldInfo;

/// The operations of a Shape as functions. Functions that a shape does not have are null.
struct TypeInfo {
  std::string_view name;
  Shape shape = Shape::other;
  bool integer_keys = false;         // a MAP that [n] indexes
  bool text_keys = false;            // a MAP that ['text'] indexes
  bool declared = false;             // an OBJECT that declares its fields
  const TypeInfo* target = nullptr;  // the target; the element; the mapped value
  const FieldInfo* fields = nullptr;
  std::size_t field_count = 0;

  Leaf (*read)(const void* value) = nullptr;
  TextFrom text_from = TextFrom::nothing;
  void (*make_text)(const void* value, TextReceiver receiver) = nullptr;
  std::size_t (*size)(const void* value) = nullptr;
  // These return false, and do not call the receiver, if there is no such value.
  bool (*visit_target)(const void* value, Receiver receiver) = nullptr;
  bool (*visit_number)(const void* value, std::uint64_t index, Receiver receiver) = nullptr;
  bool (*visit_text)(const void* value, std::string_view index, Receiver receiver) = nullptr;
};

struct FieldInfo {
  std::string_view name;
  const TypeInfo* type;
  bool by_value;  // a getter's result, which ends with the visit
  void (*visit)(const void* object, Receiver receiver);
};

namespace detail {

template <class T>
struct TypeOf {
  static const TypeInfo info;
};

// Stands for types that are incomplete where the schema is made.
struct Incomplete {};

template <class T>
struct Described {
  using type = T;
};

template <class T>
  requires(std::is_class_v<T> && !requires { sizeof(T); })
struct Described<T> {
  using type = Incomplete;
};

// A type and not a function: types may be recursive.
template <class T>
using described_t = TypeOf<typename Described<T>::type>;

template <class T>
const T& as(const void* value) {
  return *static_cast<const T*>(value);
}

template <class T>
Leaf read_leaf(const void* value) {
  Leaf leaf;
  if constexpr (shape_of<T> == Shape::text) {
    leaf.text = text_of(as<T>(value));
    if (!std::is_pointer_v<T> && leaf.text.data() == nullptr) leaf.text = "";
  } else if constexpr (shape_of<T> == Shape::character) {
    leaf.text = {static_cast<const char*>(value), 1};
  } else {
    leaf.bits = static_cast<std::uint64_t>(as<T>(value));
  }
  return leaf;
}

template <class T>
void make_text(const void* value, TextReceiver receiver) {
  with_made_text(as<T>(value),
                 [&](std::string_view text) { receiver.receive(receiver.context, text); });
}

template <class T>
bool visit_target(const void* value, Receiver receiver) {
  if constexpr (shape_of<T> == Shape::pointer) {
    if (!static_cast<bool>(as<T>(value))) return false;
  }
  receiver(&target_of(as<T>(value)));
  return true;
}

template <class T>
std::size_t size_of_type(const void* value) {
  return size_of(as<T>(value));
}

template <class T>
bool visit_element(const void* value, std::uint64_t index, Receiver receiver) {
  if (index >= size_of(as<T>(value))) return false;
  const auto& element = element_of(as<T>(value), index);
  receiver(&element);
  return true;
}

template <class T, class Key>
bool visit_entry(const void* value, Key key, Receiver receiver) {
  const auto found = find_in(as<T>(value), key);
  if (found == as<T>(value).end()) return false;
  receiver(&found->second);
  return true;
}

template <class T, std::size_t I>
void visit_field(const void* object, Receiver receiver) {
  const auto& field = fields_t<T>::template get<I>(as<T>(object));
  receiver(&field);
}

template <class T, std::size_t I>
inline constexpr bool returns_value =
    !std::is_lvalue_reference_v<decltype(fields_t<T>::template get<I>(std::declval<const T&>()))>;

template <class T, class Indexes>
struct FieldsInfo;

template <class T, std::size_t... I>
struct FieldsInfo<T, std::index_sequence<I...>> {
  // One more than needed, because an array cannot be empty.
  static constexpr FieldInfo all[] = {{field_names<T>[I], &described_t<field_type<T, I>>::info,
                                       returns_value<T, I>, &visit_field<T, I>}...,
                                      {{}, {}, {}, {}}};
};

template <class T>
constexpr void describe_map(TypeInfo& info) {
  info.target = &described_t<std::remove_cvref_t<typename T::mapped_type>>::info;
  info.integer_keys = MapWithIntegerKeys<T>;
  info.text_keys = MapWithTextKeys<T>;
  if constexpr (MapWithIntegerKeys<T>) info.visit_number = &visit_entry<T, std::uint64_t>;
  if constexpr (MapWithTextKeys<T>) info.visit_text = &visit_entry<T, std::string_view>;
}

template <class T>
constexpr TypeInfo describe() {
  constexpr Shape shape = shape_of<T>;
  TypeInfo info;
  info.name = type_name<T>();
  info.shape = shape;
  static_assert(text_from<T> != TextFrom::wrong_hook, LATCHKEY_DETAIL_WRONG_HOOK);
  info.text_from = text_from<T>;
  if constexpr (text_from<T> != TextFrom::nothing) info.make_text = &make_text<T>;
  if constexpr (shape == Shape::time) {
    // The text is its only use.
  } else if constexpr (is_leaf(shape)) {
    info.read = &read_leaf<T>;
  } else if constexpr (is_looked_through(shape)) {
    info.target = &described_t<target_type<T>>::info;
    info.visit_target = &visit_target<T>;
  } else if constexpr (shape == Shape::sequence) {
    info.target = &described_t<element_type<T>>::info;
    info.size = &size_of_type<T>;
    info.visit_number = &visit_element<T>;
  } else if constexpr (shape == Shape::map) {
    info.size = &size_of_type<T>;
    describe_map<T>(info);
  } else if constexpr (shape == Shape::object) {
    info.declared = Declared<T> || Pairs<T>;
    if constexpr (Declared<T> || Pairs<T>) {
      constexpr std::size_t count = fields_t<T>::count;
      info.fields = FieldsInfo<T, std::make_index_sequence<count>>::all;
      info.field_count = count;
    }
  }
  return info;
}

template <class T>
constinit const TypeInfo TypeOf<T>::info = describe<T>();

}  // namespace detail

/// Returns the same object for each T.
template <class T>
constexpr const TypeInfo& type_info() {
  return detail::described_t<std::remove_cvref_t<T>>::info;
}

}  // namespace latchkey::inline v1::reflect
#pragma GCC visibility pop
