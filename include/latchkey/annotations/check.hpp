// Finds annotated functions that would run without their annotations.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <meta>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/detail/annotations/binding.hpp>
#include <latchkey/detail/annotations/constants.hpp>
#include <latchkey/detail/annotations/function.hpp>
#include <latchkey/detail/locked/annotated_class.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {
namespace detail {

/// The annotated member functions of a class, with those that override an annotated function. A
/// pure virtual function is not one of them: the body that a call of it runs is that of an
/// override.
consteval std::vector<std::meta::info> annotated_members(std::meta::info type) {
  std::vector<std::meta::info> found;
  for (const std::meta::info member : members_of(type, std::meta::access_context::unchecked())) {
    if (is_function(member) && !is_pure_virtual(member) && !call_annotations(member).empty()) {
      found.push_back(member);
    }
  }
  return found;
}

/// Whether anything runs a function under its annotations.
template <std::meta::info Member>
bool is_bound() {
  return WordIn<Member>::facts.has_word.is_stated() ||
         ProxyOf<annotated_function(Member)>::fact.is_stated();
}

/// "bank::Bank::deposit (bank.cpp:12)", as messages name a site.
consteval std::string name_and_place(std::meta::info function) {
  const std::source_location place = source_location_of(function);
  const std::string_view file = place.file_name();
  return name_of_function(function) + " (" + std::string(file.substr(file.rfind('/') + 1)) + ":" +
         number_text(place.line()) + ")";
}

template <class T>
void append_unbound(std::vector<std::string>& functions) {
  template for (constexpr std::meta::info member :
                std::define_static_array(annotated_members(^^T))) {
    if (!is_bound<member>()) {
      functions.emplace_back(std::define_static_string(name_and_place(member)));
    }
  }
}

/// A class of LATCHKEY_CHECK_ANNOTATIONS. Several files may list it.
template <class T>
struct CheckedClass {
  static inline constinit AnnotatedClass known{&append_unbound<T>};
};

}  // namespace detail

/// The names of annotated member functions of T, private ones included, that nothing runs under
/// their annotations in this program: their bodies have neither LOCK_ANNOTATED nor
/// AROUND_ANNOTATED, and no call of a latchkey::Annotated<T> names them. Such a function runs
/// without its lock.
///
/// Not found: a function that is called through a proxy in one place and directly in another, one
/// of a base class (ask for that class), a member template, and a function that is no member. Call
/// it after main has begun: words are registered before.
template <class T>
[[nodiscard]] std::vector<std::string> unbound_annotations() {
  std::vector<std::string> names;
  template for (constexpr std::meta::info member :
                std::define_static_array(detail::annotated_members(^^T))) {
    if (!detail::is_bound<member>()) {
      names.emplace_back(std::define_static_string(detail::name_of_function(member)));
    }
  }
  return names;
}

/// Throws std::logic_error that lists unbound_annotations<T>(), unless there are none. For the
/// start of main, and for tests.
template <class T>
void check_annotations() {
  std::string all;
  for (const std::string& name : unbound_annotations<T>()) {
    all += all.empty() ? "" : ", ";
    all += name;
  }
  if (!all.empty()) {
    throw std::logic_error(
        "latchkey: these functions have annotations and run without their locks: " + all +
        "; write LOCK_ANNOTATED; in their bodies, or call them through latchkey::Annotated");
  }
}

}  // namespace latchkey::inline v1
#pragma GCC visibility pop

#define LATCHKEY_DETAIL_CHECKED_NAME(number) latchkey_checked_##number
#define LATCHKEY_DETAIL_CHECKED(number, ...)                                \
  [[maybe_unused]] static const bool LATCHKEY_DETAIL_CHECKED_NAME(number) = \
      ::latchkey::detail::register_annotated_class(                         \
          ::latchkey::detail::CheckedClass<__VA_ARGS__>::known)

/// LATCHKEY_CHECK_ANNOTATIONS(Bank); after a class, at the level of a namespace: the check at start
/// lists its unbound annotations, too. latchkey::install_from throws them among the errors of the
/// policy file, latchkey::check_policy_file returns them, and latchkey::dump_sites writes them for
/// `latchkey check --sites`. The type may contain commas. A header may have it, too.
#define LATCHKEY_CHECK_ANNOTATIONS(...) LATCHKEY_DETAIL_CHECKED(__COUNTER__, __VA_ARGS__)
