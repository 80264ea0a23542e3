// The keys of one LOCKED: a single key, the keys of KEYS, or those of [*].
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include <latchkey/detail/key/rendered_keys.hpp>
#include <latchkey/detail/locked/key_text.hpp>
#include <latchkey/detail/locked/locked_site.hpp>
#include <latchkey/detail/placed_text.hpp>
#include <latchkey/fixed_string.hpp>
#include <latchkey/key.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

/// A key for arguments of these types. KeyCheck<Verdict>::run() is the compile error.
template <class Text, class Names, class... Arguments>
struct OneKey {
  using Tree = detail::Tree<Text>;
  using Plan = decltype(plan_key<Tree, Names, Arguments...>(typename Tree::Slots(),
                                                            typename Tree::Pieces()));
  using Verdict = typename Plan::Verdict;
  using Site = LockedSiteOf<Tree::parse.node_count + 1U>;

  static consteval LockedKey key() {
    LockedKey key;
    key.key = {Tree::text, Tree::parsed.nodes, Tree::parse.root};
    if constexpr (Verdict::value && Tree::parse.star != 0) {
      key.render_all = &CompiledKey<Text>::template render_many<Names, Arguments...>;
    } else if constexpr (Verdict::value) {
      key.render = &Plan::Shape::render;
      key.is_one = true;
    }
    return key;
  }
};

template <FixedString Template, class Verdict>
constexpr auto verdict_in_set() {
  if constexpr (Verdict::value) {
    return key_error::Fits{};
  } else {
    return key_error::in_key<Template, Verdict>{};
  }
}

/// The keys of KEYS.
template <FixedString Texts>
struct KeySet {
  static constexpr std::size_t count = [] {
    std::size_t keys = 1;
    for (const char letter : Texts.view()) {
      if (letter == between_keys) ++keys;
    }
    return keys;
  }();

  static consteval std::string_view part(std::size_t index) {
    // With -fsanitize, GCC does not search a template argument by string_view::find.
    const std::string_view all = Texts.view();
    std::size_t begin = 0;
    for (; index > 0; ++begin) {
      if (all[begin] == between_keys) --index;
    }
    std::size_t end = begin;
    while (end < all.size() && all[end] != between_keys) ++end;
    return all.substr(begin, end - begin);
  }
  template <std::size_t Index>
  static constexpr FixedString<part(Index).size()> text{part(Index)};

  /// For messages, listings and events: separated by commas.
  static constexpr auto shown = [] {
    FixedString<Texts.size() + count - 1> result;
    char* place = result.data;
    for (const char letter : Texts.view()) {
      *place++ = letter == between_keys ? ',' : letter;
      if (letter == between_keys) *place++ = ' ';
    }
    return result;
  }();
  /// Adds all keys, in the order in which they are written; none if [*] selects no element.
  template <class Names, class... Arguments>
  static void render(RenderedKeys& keys, const void* const* arguments) {
    render_parts<Names, Arguments...>(keys, arguments, std::make_index_sequence<count>{});
  }

 private:
  template <class Names, class... Arguments, std::size_t... Index>
  static void render_parts(RenderedKeys& keys, const void* const* arguments,
                           std::index_sequence<Index...>) {
    (CompiledKey<Literal<text<Index>>>::template render_many<Names, Arguments...>(keys, arguments),
     ...);
  }
};

/// The first error in the keys of KEYS, or that there is none.
template <class Set, class Names, class... Arguments, std::size_t... Index>
constexpr auto verdict_of_keys(std::index_sequence<Index...>) {
  return (
      key_error::Fits{} | ... |
      verdict_in_set<Set::template text<Index>, typename OneKey<Literal<Set::template text<Index>>,
                                                                Names, Arguments...>::Verdict>());
}

template <class Set, class Names, class... Arguments>
struct SeveralKeys {
  using Verdict =
      decltype(verdict_of_keys<Set, Names, Arguments...>(std::make_index_sequence<Set::count>{}));
  using Site = LockedSiteOf<0>;

  static consteval LockedKey key() {
    LockedKey key;
    key.render_all = &Set::template render<Names, Arguments...>;
    key.key.text = Set::shown.view();
    return key;
  }
};

/// RightSyntax, or the first error.
template <class... Syntaxes>
struct FirstSyntaxError : std::type_identity<RightSyntax> {};
template <class First, class... More>
struct FirstSyntaxError<First, More...> : std::type_identity<First> {};
template <class... More>
struct FirstSyntaxError<RightSyntax, More...> : FirstSyntaxError<More...> {};

template <class Set, std::size_t... Index>
FirstSyntaxError<typename SyntaxOf<Tree<Literal<Set::template text<Index>>>>::type...>
    syntax_of_keys(std::index_sequence<Index...>);

/// Marks a LOCKED_BY. Its text is the name of a policy and not a key.
template <class Text>
struct ByPolicy : Text {};

template <class Text>
struct PolicyName {
  using Verdict = key_error::Fits;
  using Site = LockedSiteOf<0>;

  static consteval LockedKey key() {
    LockedKey key;
    key.key.text = text_of<Text>();
    return key;
  }
};

/// The key or keys that `Text`, the lambda of LOCKED, returns.
template <class Text, class Placed, class Names, class... Arguments>
struct LockedKeyFor : OneKey<Text, Names, Arguments...> {};
template <class Text, class Placed, class Names, class... Arguments>
struct LockedKeyFor<ByPolicy<Text>, Placed, Names, Arguments...> : PolicyName<Text> {};
template <class Text, std::size_t N, class Names, class... Arguments>
struct LockedKeyFor<Text, PlacedKeys<N>, Names, Arguments...>
    : std::conditional_t<
          KeySet<Text{}().joined>::count == 1,
          OneKey<Literal<KeySet<Text{}().joined>::template text<0>>, Names, Arguments...>,
          SeveralKeys<KeySet<Text{}().joined>, Names, Arguments...>> {};

/// The syntax of the key or keys: its member is_a_key is the check.
template <class Text, class Placed = decltype(Text{}())>
struct SyntaxOfKeys : SyntaxOf<Tree<Text>> {};
template <class Text, class Placed>
struct SyntaxOfKeys<ByPolicy<Text>, Placed> {
  using type = RightSyntax;
};
template <class Text, std::size_t N>
struct SyntaxOfKeys<Text, PlacedKeys<N>>
    : decltype(syntax_of_keys<KeySet<Text{}().joined>>(
          std::make_index_sequence<KeySet<Text{}().joined>::count>{})) {};

template <class Text, class Names, class... Arguments>
using LockedKeyOf = LockedKeyFor<Text, decltype(Text{}()), Names, Arguments...>;

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop
