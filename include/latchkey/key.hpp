// Key templates that are rendered from a call's arguments. docs/keys.md describes the language.
#pragma once

#include <latchkey/cxx20.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <latchkey/fixed_string.hpp>
#include <latchkey/key/arguments.hpp>
#include <latchkey/key/interpreter.hpp>
#include <latchkey/key/key_buffer.hpp>
#include <latchkey/key/tree.hpp>
#include <latchkey/key/write.hpp>

namespace latchkey {

/// A key template in code. Errors in it are compile errors: syntax errors when the type is
/// completed, errors in its paths when check() or render() is instantiated for a call's argument
/// types. Nothing is parsed at run time. It has no state: calls are thread-safe if reading the
/// arguments is.
template <FixedString Template>
struct Key {
 private:
  using Tree = detail::Tree<Template>;
  using Syntax = decltype(detail::syntax_of<Template, Tree::parse.mistake, Tree::wrong_word>());
  using Right = typename Syntax::is_a_key;

 public:
  /// The key has [*]: one key for each element.
  static constexpr bool many = Tree::parse.star != 0;

  static constexpr std::string_view text() { return Template.view(); }

  /// Compiles if the key fits arguments of these types. `Names` are the arguments' names separated
  /// by commas, as #__VA_ARGS__ gives them; "" if only positions are known.
  template <FixedString Names, class... Args>
  static constexpr void check() {
    // The name of a missing member shows the cause: the wrong word and the right ones are in it.
    using Verdict = decltype(verdict<Names, std::remove_cvref_t<Args>...>(Slots{}));
    static_cast<void>(sizeof(typename Verdict::fits_the_arguments*));
  }

  /// Replaces the content of `out`. Throws KeyError if a value is absent or empty or the key is
  /// longer than 1 KiB; the content of `out` is unspecified then.
  template <FixedString Names, class... Args>
  static void render(KeyBuffer& out, const Args&... args) {
    static_assert(!many, "the key has [*], so it is many keys: render_many() gives them");
    check<Names, Args...>();
    render_element<Names, Args...>(out, 0, {{args}...}, Slots{});
  }

  /// One key for each element that [*] selects, in their order; empty if there are none. One key if
  /// the template has no [*]. Throws as render() does.
  template <FixedString Names, class... Args>
  static std::vector<std::string> render_many(const Args&... args) {
    check<Names, Args...>();
    const detail::Arguments<Args...> arguments{{args}...};
    const std::size_t count = element_count<Names, Args...>(arguments);
    std::vector<std::string> keys;
    keys.reserve(count);
    KeyBuffer out;
    for (std::size_t element = 0; element < count; ++element) {
      render_element<Names, Args...>(out, element, arguments, Slots{});
      keys.emplace_back(out.view());
    }
    return keys;
  }

 private:
  using Slots = std::make_index_sequence<Tree::parse.path_count>;
  using Pieces = std::make_index_sequence<Tree::piece_count>;

  static constexpr detail::KeyData data{Template.view(), Tree::parsed.nodes, Tree::parse.root};

  template <FixedString Names, class... Args, std::size_t... Slot>
  static auto verdict(std::index_sequence<Slot...>)
      -> decltype((key_error::Fits{} | ... |
                   detail::read_path<Tree, Tree::path_in(Slot), false, Names, Args...>(
                       std::declval<const detail::Arguments<Args...>&>(),
                       std::declval<const detail::Reading&>())));

  template <FixedString Names, class... Args, std::size_t... Slot>
  static void render_element(KeyBuffer& out, std::size_t element,
                             const detail::Arguments<Args...>& arguments,
                             std::index_sequence<Slot...>) {
    if constexpr (decltype(verdict<Names, Args...>(Slots{}))::value) {
      detail::Scratch scratch;
      const detail::Reading reading{scratch, element};
      // One more than needed, because an array cannot be empty.
      const detail::Value values[] = {
          detail::read_path<Tree, Tree::path_in(Slot), false, Names, Args...>(arguments,
                                                                              reading)...,
          detail::Value{}};
      put_all(out, values, Pieces{});
    }
  }

  // Writes the template's own texts and its plain values directly; other nodes are interpreted.
  template <std::size_t... Piece>
  LATCHKEY_DETAIL_INLINE static void put_all(KeyBuffer& out, const detail::Value* values,
                                             std::index_sequence<Piece...>) {
    out.clear();
    detail::Failure failure;
    static_cast<void>((!(failure = put<Tree::piece(Piece)>(out, values)) && ...));
    if (failure || out.overflowed()) [[unlikely]] {
      detail::refuse_key(data, failure);
    }
  }

  template <std::uint16_t Node>
  LATCHKEY_DETAIL_INLINE static detail::Failure put(KeyBuffer& out, const detail::Value* values) {
    constexpr detail::Node node = Tree::node(Node);
    if constexpr (node.kind == detail::NodeKind::TEXT) {
      out.append(Template.data + node.begin, node.length);
      return {};
    } else if constexpr (detail::is_path(node)) {
      const detail::Value& value = values[node.slot];
      if (value.reason != detail::Reason::NONE) return {Node, value.reason};
      if (value.is_text) {
        detail::put_escaped(out, value.text);
      } else {
        detail::put_integer(out, value.integer);
      }
      return {};
    } else {
      return detail::put_node(out, data, Node, values);
    }
  }

  template <FixedString Names, class... Args>
  static std::size_t element_count(const detail::Arguments<Args...>& arguments) {
    if constexpr (many && decltype(verdict<Names, Args...>(Slots{}))::value) {
      detail::Scratch scratch;
      const detail::Value count =
          detail::read_path<Tree, Tree::parse.star, true, Names, Args...>(arguments, {scratch, 0});
      detail::require_value(data, Tree::parse.star, count);
      return static_cast<std::size_t>(count.integer.magnitude);
    } else {
      return 1;
    }
  }
};

}  // namespace latchkey
