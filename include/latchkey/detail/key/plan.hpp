// How a key is rendered from the arguments of one call. The functions depend on the paths and the
// order of a key's pieces and not on its text, so that similar keys share them.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <latchkey/detail/key/arguments.hpp>
#include <latchkey/detail/key/interpreter.hpp>
#include <latchkey/detail/key/refusal.hpp>
#include <latchkey/detail/key/rendered_keys.hpp>
#include <latchkey/detail/key/tree.hpp>
#include <latchkey/detail/key/value.hpp>
#include <latchkey/detail/key/write.hpp>
#include <latchkey/detail/reflect.hpp>
#include <latchkey/fixed_string.hpp>
#include <latchkey/key_buffer.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

/// The results of resolve() for all paths of a key, by slot.
template <class... Paths>
struct KeyPaths {
  /// The error that it has no member fits_the_arguments shows the wrong word and the right ones.
  using Verdict = decltype((key_error::Fits{} | ... | Paths{}));
};

template <class Verdict>
inline constexpr bool is_wrong_hook = false;
template <FixedString Path, class Type>
inline constexpr bool is_wrong_hook<key_error::latchkey_key_returns_no_text<Path, Type>> = true;

/// The compile error of a key that does not fit. Asked at the outermost function that knows the
/// arguments: GCC shows each function between the user's line and the error before the error.
template <class Verdict>
struct KeyCheck {
  static consteval bool run() {
    static_assert(!is_wrong_hook<Verdict>, LATCHKEY_DETAIL_WRONG_HOOK);
    if constexpr (!is_wrong_hook<Verdict>) {
      static_cast<void>(sizeof(typename Verdict::fits_the_arguments*));
    }
    return true;
  }
};

/// A piece is the slot of its path, or one of these.
inline constexpr int text_piece = -1;
inline constexpr int other_piece = -2;

consteval int piece_of(const Node* nodes, std::uint16_t root, std::size_t index) {
  std::uint16_t at = first_piece(nodes, root);
  for (; index > 0; --index) at = nodes[at].next;
  if (nodes[at].kind == NodeKind::text) return text_piece;
  return is_path(nodes[at]) ? static_cast<int>(nodes[at].slot) : other_piece;
}

/// Writes the template's own texts and its plain values directly; other nodes are interpreted.
template <class Paths, int... Pieces>
struct KeyShape;

template <class... Paths, int... Pieces>
struct KeyShape<KeyPaths<Paths...>, Pieces...> {
  /// Replaces the content of `out`. `element` is the index for [*].
  LATCHKEY_DETAIL_INLINE static void put_all(KeyBuffer& out, const KeyData& key,
                                             [[maybe_unused]] const void* const* arguments,
                                             std::size_t element) {
    Scratch scratch;
    [[maybe_unused]] const Reading reading{scratch, element};
    // One more than needed, because an array cannot be empty.
    const Value values[] = {Paths::read_from(arguments, reading)..., Value{}};
    out.clear();
    Failure failure;
    std::uint16_t at = first_piece(key.nodes, key.root);
    static_cast<void>((put<Pieces>(out, key, at, values, failure) && ...));
    if (failure || out.overflowed()) [[unlikely]] {
      refuse_key(key, failure);
    }
  }

  static void render(KeyBuffer& out, const KeyData& key, const void* const* arguments) {
    put_all(out, key, arguments, 0);
  }

 private:
  /// Appends the piece at node `at`, and moves to the next one; false after a failure.
  template <int Piece>
  LATCHKEY_DETAIL_INLINE static bool put(KeyBuffer& out, const KeyData& key, std::uint16_t& at,
                                         const Value* values, Failure& failure) {
    const Node& node = key.nodes[at];
    if constexpr (Piece == text_piece) {
      out.append(key.text.data() + node.begin, node.length);
    } else if constexpr (Piece == other_piece) {
      failure = put_node(out, key, at, values);
      if (failure) return false;
    } else {
      const Value& value = values[Piece];
      if (value.reason != Reason::none) [[unlikely]] {
        failure = {at, value.reason};
        return false;
      }
      if (value.is_text) {
        put_escaped(out, value.text);
      } else {
        put_integer(out, value.integer);
      }
    }
    at = node.next;
    return true;
  }
};

/// Adds one key for each element that `Star`, the path of [*] at node `star`, selects.
template <class Shape, class Star>
void render_elements(RenderedKeys& keys, const KeyData& key, std::uint16_t star,
                     const void* const* arguments) {
  Scratch scratch;
  const Value count = Star::read_from(arguments, {scratch, 0});
  require_value(key, star, count);
  const auto size = static_cast<std::size_t>(count.integer.magnitude);
  for (std::size_t element = 0; element < size; ++element) {
    Shape::put_all(keys.add(), key, arguments, element);
  }
}

/// Whether a key fits, and the functions that render it.
template <class Paths, class KeyShape>
struct KeyPlan {
  using Verdict = typename Paths::Verdict;
  using Shape = KeyShape;
};

/// The KeyPlan of the key with this `Tree` for arguments of these types. `Names` is a captureless
/// callable that returns their names as a PlacedText. The other arguments are Tree::Slots and
/// Tree::Pieces.
template <class Tree, class Names, class... Args, std::size_t... Slot, std::size_t... Piece>
consteval auto plan_key(std::index_sequence<Slot...>, std::index_sequence<Piece...>) {
  using Paths = KeyPaths<
      decltype(resolve<Tree, path_in(Tree::parsed.nodes, Slot), false, Names, Args...>())...>;
  return KeyPlan<Paths,
                 KeyShape<Paths, piece_of(Tree::parsed.nodes, Tree::parse.root, Piece)...>>{};
}

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop
