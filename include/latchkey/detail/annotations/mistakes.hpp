// The compile errors of annotations: one sentence about each mistake.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <meta>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <latchkey/detail/annotations/call.hpp>
#include <latchkey/detail/annotations/constants.hpp>
#include <latchkey/detail/annotations/function.hpp>
#include <latchkey/detail/annotations/key_sentence.hpp>
#include <latchkey/detail/in_quotes.hpp>
#include <latchkey/detail/locked/body_kind.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

/// The most parameters of a function with a word in its body.
inline constexpr std::size_t most_parameters = 16;

/// A sentence as static_assert takes one; empty: nothing is wrong.
struct MistakeText {
  bool fits = true;
  ConstantText sentence{};

  [[nodiscard]] constexpr std::size_t size() const noexcept { return sentence.size; }
  [[nodiscard]] constexpr const char* data() const noexcept { return sentence.data; }
};

consteval MistakeText mistake_text(std::string_view sentence) {
  if (sentence.empty()) return {};
  return {false, constant_text(std::string("latchkey: ") += sentence)};
}

/// A sentence about the error in the key of an annotation, for the parameters of its function;
/// empty: there is none, or the annotation has no key.
template <class Decorator>
struct KeyMistake {
  template <std::meta::info, class, class...>
  static consteval std::string text() {
    return {};
  }
};
template <class Text, class Settings>
struct KeyMistake<Locked<Text, Settings>> {
  template <std::meta::info Function, class Where, class... Arguments>
  static consteval std::string text() {
    using Key = LockedKeyOf<Text, Where, Arguments...>;
    using Verdict = typename Key::Verdict;
    if constexpr (Verdict::value) {
      return {};
    } else {
      return "key " + in_quotes(Key::key().key.text) + " of " + name_of_function(Function) + ": " +
             KeySentence<Verdict>::text();
    }
  }
};
template <class Text>
struct KeyMistake<LockedOncePer<Text>> {
  template <std::meta::info Function, class Where, class... Arguments>
  static consteval std::string text() {
    return KeyMistake<Locked<Text, Plain>>::template text<Function, Where, Arguments...>();
  }
};

template <std::meta::info Function, class Where, class... Arguments>
struct KeysOfFunction {
  template <std::size_t... Index>
  static consteval std::string first_mistake(std::index_sequence<Index...>) {
    std::string sentence;
    static_cast<void>(
        ((sentence = KeyMistake<std::remove_const_t<decltype(annotation_aspect<Function, Index>)>>::
              template text<Function, Where, Arguments...>())
             .empty() &&
         ...));
    return sentence;
  }
};

consteval std::meta::info keys_of_function(std::meta::info function, std::meta::info annotated) {
  std::vector<std::meta::info> arguments(1, std::meta::reflect_constant(annotated));
  const std::meta::info where = substitute(^^ParametersOf, arguments);
  arguments.push_back(where);
  for (const std::meta::info parameter : parameters_of(function)) {
    arguments.push_back(remove_cvref(type_of(parameter)));
  }
  return substitute(^^KeysOfFunction, arguments);
}

consteval std::size_t lock_annotation_count(std::meta::info function) {
  std::size_t count = 0;
  for (const std::meta::info annotation : own_call_annotations(function)) {
    if (is_lock_annotation(annotation)) ++count;
  }
  return count;
}

/// Whether the compiler knows what a function returns.
consteval bool knows_result(std::meta::info function) {
  try {
    static_cast<void>(return_type_of(function));
    return true;
  } catch (const std::meta::exception&) {
    return false;
  }
}

/// Whether two functions have equal annotations, in the same order.
consteval bool has_same_annotations(std::meta::info one, std::meta::info other) {
  const auto ones = own_call_annotations(one);
  const auto others = own_call_annotations(other);
  if (ones.size() != others.size()) return false;
  for (std::size_t index = 0; index < ones.size(); ++index) {
    if (constant_of(ones[index]) != constant_of(others[index])) return false;
  }
  return true;
}

/// Describes the first error in the annotations of a function, whoever calls it; empty: none.
consteval std::string annotations_mistake(std::meta::info function, std::string_view user) {
  if (is_constructor(function) || is_destructor(function)) {
    return name_of_function(function) +
           (is_constructor(function) ? " is a constructor" : " is a destructor") +
           ": an object that is being made or destroyed has no other callers; annotate the "
           "function that makes or destroys it";
  }
  const std::meta::info annotated = annotated_function(function);
  if (own_call_annotation_count(annotated) == 0) {
    return std::string(user) + ": " + name_of_function(function) +
           " has no annotation: write [[=latchkey::locked(\"key\")]] before it";
  }
  if (lock_annotation_count(annotated) > 1) {
    return name_of_function(annotated) +
           " has two annotations [[=latchkey::locked(...)]], perhaps on two of its declarations; "
           "for several keys write latchkey::locked(KEYS(\"a:{x}\", \"b:{y}\"))";
  }
  for (const std::meta::info base : annotated_overridden(function)) {
    if (!has_same_annotations(annotated, base)) {
      return name_of_function(function) + " and " + name_of_function(base) +
             ", which it overrides, have different annotations: write them on one of the two";
    }
  }
  if (!knows_result(function)) {
    return std::string(user) + ": the result of " + name_of_function(function) +
           " is deduced, and the lock must know it before the body: say the type";
  }
  return {};
}

/// For bodies of Asio and other results that run later.
template <class Result>
inline constexpr bool is_coroutine_result = BodyKind<Result>::is_coroutine;

consteval bool is_coroutine(std::meta::info result) {
  const std::vector<std::meta::info> arguments(1, result);
  return extract<bool>(substitute(^^is_coroutine_result, arguments));
}

consteval std::string word_mistake(std::meta::info function, std::string_view word, bool is_scope) {
  std::string sentence = annotations_mistake(function, word);
  if (!sentence.empty()) return sentence;
  if (parameters_of(function).size() > most_parameters) {
    return std::string(word) + ": " + name_of_function(function) +
           " has more than 16 parameters: give them as one struct";
  }
  const std::meta::info result = return_type_of(function);
  if (is_coroutine(result)) {
    return std::string(word) + ": " + name_of_function(function) +
           " returns an asio::awaitable, whose body runs after the function has returned: call it "
           "through latchkey::Annotated, or write co_await (LOCKED(...) AROUND(arguments) -> "
           "asio::awaitable<T> { ... })";
  }
  const auto annotations = call_annotations(function);
  if (is_scope && (annotations.size() != 1 || !is_lock_annotation(annotations.front()))) {
    return "LOCK_ANNOTATED takes the one lock of " + name_of_function(function) +
           ", which has other annotations too: write AROUND_ANNOTATED { body };";
  }
  return {};
}

template <std::meta::info Function>
consteval MistakeText check_keys() {
  constexpr std::meta::info annotated = annotated_function(Function);
  using Keys = [:keys_of_function(Function, annotated):];
  return mistake_text(
      Keys::first_mistake(std::make_index_sequence<own_call_annotation_count(annotated)>()));
}

template <std::meta::info Function, bool is_scope>
consteval MistakeText check_word_and_keys() {
  constexpr MistakeText word = mistake_text(
      word_mistake(Function, is_scope ? "LOCK_ANNOTATED" : "AROUND_ANNOTATED", is_scope));
  if constexpr (!word.fits) {
    return word;
  } else {
    return check_keys<Function>();
  }
}

template <std::meta::info Function, bool is_scope>
inline constexpr MistakeText word_check = check_word_and_keys<Function, is_scope>();

/// The first mistake of a function with a word, if it has one.
consteval MistakeText check_word(std::meta::info function, bool is_scope) {
  return extract<MistakeText>(substitute(^^word_check, {
                                                           std::meta::reflect_constant(function),
                                                           std::meta::reflect_constant(is_scope)}));
}

/// A coroutine that a proxy calls owns its arguments: the lock may keep it waiting.
consteval std::string proxied_coroutine_mistake(std::meta::info function) {
  if (!is_coroutine(return_type_of(function))) return {};
  for (const std::meta::info parameter : parameters_of(function)) {
    if (!is_reference_type(type_of(parameter))) continue;
    const std::string name =
        has_identifier(parameter) ? " " + in_quotes(identifier_of(parameter)) : std::string();
    return name_of_function(function) + " is a coroutine, which may run when its argument" + name +
           " is dead: take it by value; a pointer or a std::reference_wrapper says that its caller "
           "keeps it alive";
  }
  return {};
}

/// Checks a call through a proxy with these first parameters; the others have defaults.
template <std::meta::info Function, class... Parameters>
consteval MistakeText check_proxy() {
  constexpr MistakeText whole = mistake_text(annotations_mistake(Function, "latchkey::Annotated"));
  if constexpr (!whole.fits) {
    return whole;
  } else if constexpr (constexpr MistakeText owned =
                           mistake_text(proxied_coroutine_mistake(Function));
                       !owned.fits) {
    return owned;
  } else {
    constexpr std::meta::info annotated = annotated_function(Function);
    using Keys = KeysOfFunction<annotated, ParametersOf<annotated, sizeof...(Parameters)>,
                                std::remove_cvref_t<Parameters>...>;
    return mistake_text(
        Keys::first_mistake(std::make_index_sequence<own_call_annotation_count(annotated)>()));
  }
}
template <std::meta::info Function, class... Parameters>
inline constexpr MistakeText proxy_check = check_proxy<Function, Parameters...>();

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop
