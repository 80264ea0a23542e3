// The keys of one LOCKED: a single key, the keys of KEYS, or those of [*].
#pragma once

#include <array>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <latchkey/fixed_string.hpp>
#include <latchkey/key.hpp>
#include <latchkey/locked/key_text.hpp>

namespace latchkey::detail {

/// The keys in `Texts`, the result of key_text(): one key, or several joined.
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
    std::string_view rest = Texts.view();
    for (; index > 0; --index) rest.remove_prefix(rest.find(between_keys) + 1);
    return rest.substr(0, rest.find(between_keys));
  }
  template <std::size_t Index>
  static constexpr FixedString<part(Index).size()> text{part(Index)};

  /// It may render to more than one key.
  static constexpr bool several = [] {
    if constexpr (count > 1) {
      return true;
    } else {
      return Key<Texts>::many;
    }
  }();

  /// For messages: separated by commas.
  static constexpr auto shown = [] {
    FixedString<Texts.size() + count - 1> result;
    char* place = result.data;
    for (const char letter : Texts.view()) {
      *place++ = letter == between_keys ? ',' : letter;
      if (letter == between_keys) *place++ = ' ';
    }
    return result;
  }();

  /// All keys, in the order in which they are written; empty if [*] selects no element.
  template <FixedString Names, class... Arguments>
  static std::vector<std::string> render(const Arguments&... arguments) {
    std::vector<std::string> keys;
    render_parts<Names>(keys, std::make_index_sequence<count>{}, arguments...);
    return keys;
  }

 private:
  template <FixedString Names, std::size_t... Index, class... Arguments>
  static void render_parts(std::vector<std::string>& keys, std::index_sequence<Index...>,
                           const Arguments&... arguments) {
    (add(keys, Key<text<Index>>::template render_many<Names>(arguments...)), ...);
  }
  static void add(std::vector<std::string>& keys, std::vector<std::string>&& more) {
    keys.insert(keys.end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
  }
};

}  // namespace latchkey::detail
