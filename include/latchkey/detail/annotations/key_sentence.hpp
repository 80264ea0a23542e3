// The sentences about keys that do not fit the parameters of their function.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <meta>
#include <string>
#include <string_view>

#include <latchkey/detail/in_quotes.hpp>
#include <latchkey/detail/key/about.hpp>
#include <latchkey/detail/key/refusal.hpp>
#include <latchkey/fixed_string.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

/// "; it has account, amount", or that there is none.
template <FixedString... Names>
consteval std::string right_words(std::string_view none) {
  if constexpr (sizeof...(Names) == 0) {
    return std::string("; ") += none;
  } else {
    std::string text = "; expected one of ";
    bool first = true;
    for (const std::string_view name : {Names.view()...}) {
      if (!first) text += ", ";
      first = false;
      text += name;
    }
    return text;
  }
}

/// The sentence of an error of refusal.hpp, without the key before it.
template <class Error>
struct KeySentence;

template <FixedString Word, FixedString... Names>
struct KeySentence<key_error::no_argument_named<Word, Names...>> {
  static consteval std::string text() {
    return in_quotes(Word.view()) + " is no argument" + right_words<Names...>("there are none");
  }
};
template <FixedString Word>
struct KeySentence<key_error::arguments_have_only_positions_here<Word>> {
  static consteval std::string text() {
    return in_quotes(Word.view()) + " is no argument: the parameters have no names";
  }
};
template <FixedString Word, FixedString Names>
struct KeySentence<key_error::these_names_are_not_one_for_each_argument<Word, Names>> {
  static consteval std::string text() {
    return in_quotes(Word.view()) + " is no argument: the parameters are (" +
           std::string(Names.view()) + ")";
  }
};
template <FixedString Position, std::size_t Count>
struct KeySentence<key_error::no_argument_at<Position, Count>> {
  static consteval std::string text() {
    return "there is no argument " + std::string(Position.view()) + ": the function has " +
           decimal_text(Count) + ", counted from 0";
  }
};
template <FixedString Word, class Type, FixedString... Names>
struct KeySentence<key_error::no_field_named<Word, Type, Names...>> {
  static consteval std::string text() {
    return in_quotes(Word.view()) + " is no field of " + std::string(display_string_of(^^Type)) +
           right_words<Names...>("it has none");
  }
};

/// The errors that are about a word or a path and a type.
template <class Type>
consteval std::string about_type(std::string_view word, std::string_view what,
                                 std::string_view cure) {
  return in_quotes(word) + " " + std::string(what) + " " + std::string(display_string_of(^^Type)) +
         std::string(cure);
}

#define LATCHKEY_DETAIL_KEY_SENTENCE(error, what, cure)                                       \
  template <FixedString Word, class Type>                                                     \
  struct KeySentence<key_error::error<Word, Type>> {                                          \
    static consteval std::string text() { return about_type<Type>(Word.view(), what, cure); } \
  }
LATCHKEY_DETAIL_KEY_SENTENCE(type_has_no_fields, "follows a", ", which has no fields");
LATCHKEY_DETAIL_KEY_SENTENCE(members_are_private_or_set_by_a_constructor_write_LATCHKEY_FIELDS,
                             "follows a", ": a union has no fields in a key");
LATCHKEY_DETAIL_KEY_SENTENCE(type_has_virtual_functions_write_LATCHKEY_FIELDS, "follows a",
                             ": write LATCHKEY_FIELDS");
LATCHKEY_DETAIL_KEY_SENTENCE(a_floating_point_number_makes_no_key, "is a",
                             ": a floating-point number makes no key, because equal amounts may "
                             "have different texts; use an integer, such as cents");
LATCHKEY_DETAIL_KEY_SENTENCE(a_container_makes_no_key_index_it, "is a",
                             ": a container makes no key; index it, as in {names[0]}, or write [*] "
                             "for one key for each element");
LATCHKEY_DETAIL_KEY_SENTENCE(this_type_makes_no_key, "is a", ", which makes no key");
LATCHKEY_DETAIL_KEY_SENTENCE(this_type_makes_no_key_write_latchkey_key, "is a",
                             ", which makes no key: write std::string latchkey_key(const T&)");
LATCHKEY_DETAIL_KEY_SENTENCE(the_percent_sign_needs_an_integer, "is a",
                             ": '%' needs an integer before it");
LATCHKEY_DETAIL_KEY_SENTENCE(size_counts_elements_or_bytes_of_text, "is a",
                             ": size() counts the elements of a container or the bytes of a text");
LATCHKEY_DETAIL_KEY_SENTENCE(a_number_indexes_containers_and_maps_with_integer_keys, "indexes a",
                             ": a number indexes containers, and maps with integer keys");
LATCHKEY_DETAIL_KEY_SENTENCE(a_text_indexes_maps_with_text_keys, "indexes a",
                             ": a text indexes maps with text keys");
LATCHKEY_DETAIL_KEY_SENTENCE(a_star_takes_each_element_of_a_container, "is a",
                             ": [*] takes each element of a container");
LATCHKEY_DETAIL_KEY_SENTENCE(latchkey_key_returns_no_text, "is a",
                             ": its latchkey_key(const T&) returns no text");
#undef LATCHKEY_DETAIL_KEY_SENTENCE

template <FixedString Path, class Type, FixedString... Names>
struct KeySentence<
    key_error::an_object_makes_no_key_name_a_field_or_write_latchkey_key<Path, Type, Names...>> {
  static consteval std::string text() {
    return in_quotes(Path.view()) + " is a " + std::string(display_string_of(^^Type)) +
           ": an object makes no key; name a field, or write latchkey_key(const T&)" +
           right_words<Names...>("it has no fields");
  }
};
template <FixedString Template, class Error>
struct KeySentence<key_error::in_key<Template, Error>> {
  static consteval std::string text() {
    return "in " + in_quotes(Template.view()) + ": " + KeySentence<Error>::text();
  }
};

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop
