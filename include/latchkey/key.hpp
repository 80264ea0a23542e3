// Key templates that are rendered from a call's arguments. docs/keys.md describes the language.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <latchkey/detail/key/arguments.hpp>
#include <latchkey/detail/key/interpreter.hpp>
#include <latchkey/detail/key/plan.hpp>
#include <latchkey/detail/key/rendered_keys.hpp>
#include <latchkey/detail/key/tree.hpp>
#include <latchkey/detail/placed_text.hpp>
#include <latchkey/fixed_string.hpp>
#include <latchkey/key_buffer.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

namespace detail {

/// A key template whose text is the result of `Text`, a captureless callable that returns a
/// PlacedText. `Names` is one for the arguments' names.
template <class Text>
struct CompiledKey {
  using Tree = detail::Tree<Text>;
  using Syntax = typename SyntaxOf<Tree>::type;
  using Right = typename Syntax::is_a_key;
  using Slots = typename Tree::Slots;
  using Pieces = typename Tree::Pieces;

  static constexpr bool many = Tree::parse.star != 0;
  static constexpr KeyData data{Tree::text, Tree::kept.nodes, Tree::parse.root};

  /// Adds one key for each element that [*] selects; one key if there is no [*].
  template <class Names, class... Args>
  static void render_many(RenderedKeys& keys, const void* const* arguments) {
    using Plan = decltype(plan_key<Tree, Names, Args...>(Slots(), Pieces()));
    static_assert(KeyCheck<typename Plan::Verdict>::run());
    if constexpr (!Plan::Verdict::value) {
      return;
    } else if constexpr (many) {
      using Star = decltype(resolve<Tree, Tree::parse.star, true, Names, Args...>());
      render_elements<typename Plan::Shape, Star>(keys, data, Tree::parse.star, arguments);
    } else {
      Plan::Shape::render(keys.add(), data, arguments);
    }
  }
};

}  // namespace detail

/// A key template in code. Errors in it are compile errors: syntax errors when the type is
/// completed, errors in its paths when check() or render() is instantiated for a call's argument
/// types. Nothing is parsed at run time. It has no state: calls are thread-safe if reading the
/// arguments is.
template <FixedString Template>
struct Key {
 private:
  using Compiled = detail::CompiledKey<detail::Literal<Template>>;
  using Right = typename Compiled::Right;

  using Tree = typename Compiled::Tree;
  using Slots = typename Tree::Slots;
  using Pieces = typename Tree::Pieces;

 public:
  /// The key has [*]: one key for each element.
  static constexpr bool many = Compiled::many;

  static constexpr std::string_view text() { return Template.view(); }

  /// Compiles if the key fits arguments of these types. `Names` are the arguments' names separated
  /// by commas, as `#__VA_ARGS__` gives them; "" if only positions are known.
  template <FixedString Names, class... Args>
  static constexpr void check() {
    using Plan =
        decltype(detail::plan_key<Tree, detail::Literal<Names>, std::remove_cvref_t<Args>...>(
            Slots(), Pieces()));
    static_assert(detail::KeyCheck<typename Plan::Verdict>::run());
  }

  /// Replaces the content of `out`. Throws KeyError if a value is absent or empty or the key is
  /// longer than 1 KiB; the content of `out` is unspecified then.
  template <FixedString Names, class... Args>
  static void render(KeyBuffer& out, const Args&... args) {
    static_assert(!many, "the key has [*], so it is many keys: render_many() gives them");
    check<Names, Args...>();
    using Plan =
        decltype(detail::plan_key<Tree, detail::Literal<Names>, Args...>(Slots(), Pieces()));
    if constexpr (Plan::Verdict::value) {
      const void* const arguments[] = {static_cast<const void*>(std::addressof(args))..., nullptr};
      Plan::Shape::put_all(out, Compiled::data, arguments, 0);
    }
  }

  /// One key for each element that [*] selects, in their order; empty if there are none. One key if
  /// the template has no [*]. Throws as render() does.
  template <FixedString Names, class... Args>
  static std::vector<std::string> render_many(const Args&... args) {
    const void* const arguments[] = {static_cast<const void*>(std::addressof(args))..., nullptr};
    detail::RenderedKeys keys;
    Compiled::template render_many<detail::Literal<Names>, Args...>(keys, arguments);
    return keys.strings();
  }
};

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
