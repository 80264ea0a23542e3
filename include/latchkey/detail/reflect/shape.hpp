// How a key can use a type: as a value, through indirection, by index or by field name. Everything
// is deduced from the operations of a type, so no header of a standard container is needed.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include <latchkey/fields.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::reflect {

enum class Shape : unsigned char {
  boolean,           // a leaf: true, false
  signed_integer,    // a leaf
  unsigned_integer,  // a leaf
  character,         // a leaf: one byte of text
  text,       // a leaf: whatever converts to std::string_view, character arrays, char pointers
  time,       // a leaf: durations and time points of chrono that count whole ticks
  pointer,    // followed to its target: pointers, smart pointers, optionals, expected
  reference,  // followed to its target, which always exists: std::reference_wrapper
  sequence,   // indexed by number
  map,        // indexed by its key
  object,     // has fields, or may have
  floating,   // makes no key
  other,      // makes no key
};

namespace detail {

template <class T>
concept LooksThrough = std::is_class_v<T> && requires(const T& value) {
  static_cast<bool>(value);
  requires std::is_lvalue_reference_v<decltype(*value)>;
  requires std::is_object_v<std::remove_reference_t<decltype(*value)>>;  // no lambda
};

template <class T>
concept Refers = std::is_class_v<T> && requires(const T& value) {
  typename T::type;
  requires std::is_same_v<decltype(value.get()), typename T::type&>;
};

template <class T>
concept HasSize = std::is_class_v<T> && requires(const T& value) {
  { value.size() } -> std::convertible_to<std::size_t>;
  value.begin() != value.end();
};

template <class T>
concept Maps = HasSize<T> && requires {
  typename T::key_type;
  typename T::mapped_type;
};

// chrono's types, recognised by their members because the header is large.
template <class T>
concept Duration = std::is_class_v<T> && requires(const T& value) {
  { value.count() } -> std::same_as<typename T::rep>;
  T::period::num;
  T::period::den;
};

template <class T>
concept TimePoint = std::is_class_v<T> && requires(const T& value) {
  typename T::clock;
  { value.time_since_epoch() } -> Duration;
};

template <class T>
constexpr Shape shape_of_duration() {
  using Period = typename T::period;
  if (std::is_floating_point_v<typename T::rep>) return Shape::floating;
  auto parts = Period::den;
  while (parts % 10 == 0) parts /= 10;
  // A third of a second has no finite decimal text.
  return std::is_integral_v<typename T::rep> && parts == 1 ? Shape::time : Shape::other;
}

template <class T>
constexpr Shape shape_of_class() {
  if (Declared<T>) return Shape::object;
  if (std::is_convertible_v<const T&, std::string_view>) return Shape::text;
  if constexpr (Duration<T>) {
    return shape_of_duration<T>();
  } else if constexpr (TimePoint<T>) {
    return shape_of_duration<typename T::duration>();
  }
  if (Maps<T>) return Shape::map;
  if (HasSize<T>) return Shape::sequence;
  if (Refers<T>) return Shape::reference;
  if (LooksThrough<T>) return Shape::pointer;
  return Shape::object;
}

template <class T>
constexpr Shape shape_of_integer() {
  if (std::is_same_v<T, bool>) return Shape::boolean;
  if (std::is_same_v<T, char>) return Shape::character;
  if (std::is_same_v<T, wchar_t> || std::is_same_v<T, char8_t> || std::is_same_v<T, char16_t> ||
      std::is_same_v<T, char32_t> || sizeof(T) > sizeof(long long)) {
    return Shape::other;
  }
  return std::is_signed_v<T> ? Shape::signed_integer : Shape::unsigned_integer;
}

template <class T>
constexpr Shape shape_of_unqualified() {
  if constexpr (std::is_integral_v<T>) {
    return shape_of_integer<T>();
  } else if constexpr (std::is_enum_v<T>) {
    return std::is_signed_v<std::underlying_type_t<T>> ? Shape::signed_integer
                                                       : Shape::unsigned_integer;
  } else if constexpr (std::is_floating_point_v<T>) {
    return Shape::floating;
  } else if constexpr (std::is_array_v<T>) {
    return std::is_same_v<std::remove_cv_t<std::remove_extent_t<T>>, char> ? Shape::text
                                                                           : Shape::sequence;
  } else if constexpr (std::is_pointer_v<T>) {
    using Target = std::remove_cv_t<std::remove_pointer_t<T>>;
    if (std::is_same_v<Target, char>) return Shape::text;
    return std::is_void_v<Target> || std::is_function_v<Target> ? Shape::other : Shape::pointer;
  } else if constexpr (std::is_class_v<T>) {
    return shape_of_class<T>();
  } else {
    return Shape::other;
  }
}

}  // namespace detail

/// T may be const but not a reference; a class must be complete.
template <class T>
inline constexpr Shape shape_of = detail::shape_of_unqualified<std::remove_cv_t<T>>();

constexpr bool is_integer(Shape shape) {
  return shape == Shape::signed_integer || shape == Shape::unsigned_integer;
}

constexpr bool is_leaf(Shape shape) { return shape <= Shape::time; }

constexpr bool is_looked_through(Shape shape) {
  return shape == Shape::pointer || shape == Shape::reference;
}

/// The target of a POINTER or REFERENCE; a POINTER must not be empty.
template <class T>
constexpr const auto& target_of(const T& value) {
  if constexpr (shape_of<T> == Shape::reference) {
    return value.get();
  } else {
    return *value;
  }
}

/// The bytes of a TEXT. A character array ends at its first NUL or at its end. A null `const char*`
/// gives a view whose data() is null.
template <class T>
constexpr std::string_view text_of(const T& value) {
  if constexpr (std::is_array_v<T>) {
    std::size_t size = 0;
    while (size < std::extent_v<T> && value[size] != '\0') ++size;
    return {value, size};
  } else if constexpr (std::is_pointer_v<T>) {
    return value == nullptr ? std::string_view{} : std::string_view{value};
  } else {
    return value;
  }
}

template <class T>
constexpr std::size_t size_of(const T& sequence) {
  if constexpr (std::is_array_v<T>) {
    return std::extent_v<T>;
  } else {
    return static_cast<std::size_t>(sequence.size());
  }
}

/// Element `index` of a SEQUENCE or the mapped values of a MAP in their own order; index < size_of.
template <class T>
constexpr decltype(auto) element_of(const T& sequence, std::size_t index) {
  if constexpr (shape_of<T> == Shape::map) {
    auto at = sequence.begin();
    for (; index > 0; --index) ++at;
    return (at->second);
  } else if constexpr (requires { sequence[index]; }) {
    return sequence[index];
  } else {
    auto at = sequence.begin();
    for (; index > 0; --index) ++at;
    return *at;
  }
}

template <class T>
using target_type = std::remove_cvref_t<decltype(target_of(std::declval<const T&>()))>;

template <class T>
using element_type = std::remove_cvref_t<decltype(element_of(std::declval<const T&>(), 0))>;

/// A map whose keys are integers is indexed by [n], one whose keys are texts by ['text'].
template <class T>
concept MapWithIntegerKeys =
    shape_of<T> == Shape::map && is_integer(shape_of<typename T::key_type>);

template <class T>
concept MapWithTextKeys =
    shape_of<T> == Shape::map && std::is_constructible_v<typename T::key_type, std::string_view>;

/// The entry of a MAP, or end().
template <class Map, class Key>
auto find_in(const Map& map, const Key& key) {
  using Own = typename Map::key_type;
  if constexpr (std::is_integral_v<Key>) {
    // A number that the key type cannot represent is not in the map, whatever the cast returns.
    const auto own = static_cast<Own>(key);
    return static_cast<Key>(own) == key ? map.find(own) : map.end();
  } else if constexpr (requires { map.find(key); }) {
    return map.find(key);
  } else {
    return map.find(Own(key));
  }
}

}  // namespace latchkey::inline v1::reflect
#pragma GCC visibility pop
