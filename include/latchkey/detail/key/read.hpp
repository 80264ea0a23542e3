// Follows the paths of a compiled key from the arguments to Values. If a path does not fit, the
// result is a type from refusal.hpp instead of a Value. The same functions, used only for their
// result types, therefore check the key, and the compile error appears at the check and not deep
// inside them.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <latchkey/detail/key/failure.hpp>
#include <latchkey/detail/key/node.hpp>
#include <latchkey/detail/key/refuse.hpp>
#include <latchkey/detail/key/value.hpp>
#include <latchkey/detail/reflect.hpp>

#define LATCHKEY_DETAIL_INLINE [[gnu::always_inline]] inline

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

/// The position in a path: the path and its next step (0: none is left). `Kept`: the current value
/// is a getter's result, which ends with the call. `Counting`: [*] is counted and not followed.
template <class Key, std::uint16_t Path, std::uint16_t Step, bool Counting = false,
          bool Kept = false>
struct At {
  using Tree = Key;
  static constexpr std::uint16_t path = Path;
  static constexpr std::uint16_t step = Step;
  static constexpr bool counting = Counting;
  static constexpr bool kept = Kept;
  static constexpr Use use = Tree::node(Path).use;
  static constexpr NodeKind kind = Tree::node(Step).kind;
  template <class Result>
  using Next =
      At<Key, Path, Tree::node(Step).next, Counting, Kept || !std::is_lvalue_reference_v<Result>>;
};

/// The context that the rest of a path needs besides its value.
struct Reading {
  Scratch& scratch;
  std::size_t star;  // the index of the element for [*]
};

template <class Here, class T>
LATCHKEY_DETAIL_INLINE auto read(const T& value, const Reading& reading);

template <class Here, class T>
using read_t = decltype(read<Here>(std::declval<const T&>(), std::declval<const Reading&>()));

template <class T>
constexpr Integer integer_of(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return integer_from(static_cast<std::underlying_type_t<T>>(value));
  } else {
    return integer_from(value);
  }
}

/// An empty text counts as a value only for size().
template <class Here, class T>
Value read_text(const T& value, const Reading& reading) {
  const std::string_view text = reflect::text_of(value);
  if (std::is_pointer_v<T> && text.data() == nullptr) return no_value(Reason::absent);
  if constexpr (Here::use == Use::size) {
    return integer_value({text.size(), false});
  } else {
    if (text.empty()) return no_value(Reason::empty);
    return text_value(Here::kept ? reading.scratch.keep(text) : text);
  }
}

/// Reads a text that is valid only during its callback.
template <class Here, class T>
auto read_made_text([[maybe_unused]] const T& value, [[maybe_unused]] const Reading& reading) {
  if constexpr (reflect::text_from<T> == reflect::TextFrom::wrong_hook) {
    return key_error::latchkey_key_returns_no_text<Here::Tree::template shown_path<Here::path>,
                                                   T>{};
  } else {
    Value result = no_value(Reason::empty);
    reflect::with_made_text(value, [&](std::string_view text) {
      if (text.data() == nullptr) {
        result = no_value(Reason::absent);
      } else if constexpr (Here::use == Use::size) {
        result = integer_value({text.size(), false});
      } else {
        if (!text.empty()) result = text_value(reading.scratch.keep(text));
      }
    });
    return result;
  }
}

/// The path uses the text that is made from a T.
template <class Here, class T>
constexpr bool wants_made_text() {
  using reflect::TextFrom;
  if constexpr (Here::step != 0 || Here::use == Use::integer) {
    return false;
  } else if constexpr (Here::use == Use::size) {
    return reflect::text_from<T> == TextFrom::hook || reflect::text_from<T> == TextFrom::wrong_hook;
  } else {
    return reflect::text_from<T> != TextFrom::nothing;
  }
}

template <class Here, class T>
LATCHKEY_DETAIL_INLINE auto read_leaf([[maybe_unused]] const T& value,
                                      [[maybe_unused]] const Reading& reading) {
  using reflect::Shape;
  constexpr Shape shape = reflect::shape_of<T>;
  if constexpr (reflect::is_integer(shape) && Here::use != Use::size) {
    return integer_value(integer_of(value));
  } else if constexpr (Here::use == Use::integer) {
    return key_error::the_percent_sign_needs_an_integer<Here::Tree::template shown_path<Here::path>,
                                                        T>{};
  } else if constexpr (shape == Shape::text) {
    return read_text<Here>(value, reading);
  } else if constexpr (Here::use == Use::size) {
    if constexpr (shape == Shape::sequence || shape == Shape::map) {
      return integer_value({reflect::size_of(value), false});
    } else {
      return key_error::size_counts_elements_or_bytes_of_text<
          Here::Tree::template shown_path<Here::path>, T>{};
    }
  } else if constexpr (shape == Shape::boolean) {
    return text_value(value ? std::string_view("true") : std::string_view("false"));
  } else if constexpr (shape == Shape::character) {
    const std::string_view text(&value, 1);
    return text_value(Here::kept ? reading.scratch.keep(text) : text);
  } else {
    return refused_leaf<Here::Tree::template shown_path<Here::path>, T>();
  }
}

#ifdef __cpp_impl_reflection
/// `{state.name}`: the name of an enumerator. Other values of the type have no element with a name.
template <class Here, class T>
  requires(std::is_enum_v<T> && Here::Tree::word(Here::step) == "name" &&
           Here::Tree::node(Here::step).next == 0)
auto read_member(const T& value, const Reading&) {
  if constexpr (Here::use == Use::integer) {
    return key_error::the_percent_sign_needs_an_integer<Here::Tree::template shown_path<Here::path>,
                                                        T>{};
  } else {
    const std::string_view name = reflect::enumerator_name(value);
    if (name.empty()) return no_value(Reason::no_element);
    return Here::use == Use::size ? integer_value({name.size(), false}) : text_value(name);
  }
}
#endif

template <class Here, class T>
LATCHKEY_DETAIL_INLINE auto read_member([[maybe_unused]] const T& value,
                                        [[maybe_unused]] const Reading& reading) {
  constexpr std::size_t index = reflect::index_of_field<T>(Here::Tree::word(Here::step));
  if constexpr (index != reflect::no_field) {
    using Fields = reflect::fields_t<T>;
    using Next = typename Here::template Next<decltype(Fields::template get<index>(value))>;
    return read<Next>(Fields::template get<index>(value), reading);
  } else {
    return refused_member<Here::Tree::template shown_word<Here::step>, T>();
  }
}

template <class Here, class Map, class Key>
LATCHKEY_DETAIL_INLINE auto read_entry(const Map& map, const Key& key, const Reading& reading) {
  using Next = typename Here::template Next<const typename Map::mapped_type&>;
  using Result = read_t<Next, typename Map::mapped_type>;
  if constexpr (Result::value) {
    const auto found = reflect::find_in(map, key);
    if (found == map.end()) return no_value(Reason::no_element);
    return read<Next>(found->second, reading);
  } else {
    return Result{};
  }
}

template <class Here, class T>
LATCHKEY_DETAIL_INLINE auto read_element(const T& sequence, std::uint64_t index,
                                         const Reading& reading) {
  using Next = typename Here::template Next<decltype(reflect::element_of(sequence, 0))>;
  using Result = read_t<Next, reflect::element_type<T>>;
  if constexpr (Result::value) {
    if (index >= reflect::size_of(sequence)) return no_value(Reason::no_element);
    return read<Next>(reflect::element_of(sequence, index), reading);
  } else {
    return Result{};
  }
}

template <class Here, class T>
LATCHKEY_DETAIL_INLINE auto read_index([[maybe_unused]] const T& value,
                                       [[maybe_unused]] const Reading& reading) {
  constexpr std::uint64_t index = Here::Tree::node(Here::step).number;
  if constexpr (reflect::shape_of<T> == reflect::Shape::sequence) {
    return read_element<Here>(value, index, reading);
  } else if constexpr (reflect::MapWithIntegerKeys<T>) {
    return read_entry<Here>(value, index, reading);
  } else {
    return key_error::a_number_indexes_containers_and_maps_with_integer_keys<
        Here::Tree::template shown_word<Here::step>, T>{};
  }
}

template <class Here, class T>
LATCHKEY_DETAIL_INLINE auto read_text_index([[maybe_unused]] const T& value,
                                            [[maybe_unused]] const Reading& reading) {
  if constexpr (reflect::MapWithTextKeys<T>) {
    return read_entry<Here>(value, Here::Tree::word(Here::step), reading);
  } else {
    return key_error::a_text_indexes_maps_with_text_keys<
        Here::Tree::template shown_word<Here::step>, T>{};
  }
}

template <class Here, class T>
LATCHKEY_DETAIL_INLINE auto read_star([[maybe_unused]] const T& value,
                                      [[maybe_unused]] const Reading& reading) {
  if constexpr (reflect::shape_of<T> != reflect::Shape::sequence) {
    return key_error::a_star_takes_each_element_of_a_container<
        Here::Tree::template shown_path<Here::path>, T>{};
  } else if constexpr (Here::counting) {
    return integer_value({reflect::size_of(value), false});
  } else {
    return read_element<Here>(value, reading.star, reading);
  }
}

template <class Here, class T>
LATCHKEY_DETAIL_INLINE auto read_target(const T& value, const Reading& reading) {
  using Result = read_t<Here, reflect::target_type<T>>;
  if constexpr (!Result::value) {
    return Result{};
  } else {
    if constexpr (reflect::shape_of<T> == reflect::Shape::pointer) {
      if (!static_cast<bool>(value)) return no_value(Reason::absent);
    }
    return read<Here>(reflect::target_of(value), reading);
  }
}

template <class Here, class T>
LATCHKEY_DETAIL_INLINE auto read(const T& value, const Reading& reading) {
  if constexpr (wants_made_text<Here, T>()) {
    return read_made_text<Here>(value, reading);
  } else if constexpr (reflect::is_looked_through(reflect::shape_of<T>)) {
    return read_target<Here>(value, reading);
  } else if constexpr (Here::step == 0) {
    return read_leaf<Here>(value, reading);
  } else if constexpr (Here::kind == NodeKind::member) {
    return read_member<Here>(value, reading);
  } else if constexpr (Here::kind == NodeKind::index) {
    return read_index<Here>(value, reading);
  } else if constexpr (Here::kind == NodeKind::text_index) {
    return read_text_index<Here>(value, reading);
  } else {
    return read_star<Here>(value, reading);
  }
}

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop
