// Finds annotated functions that would run without their annotations.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <meta>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/annotations/binding.hpp>
#include <latchkey/annotations/function.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {
namespace detail {

/// The annotated member functions of a class, with those that override an annotated function.
consteval std::vector<std::meta::info> annotated_members(std::meta::info type) {
  std::vector<std::meta::info> found;
  for (const std::meta::info member : members_of(type, std::meta::access_context::unchecked())) {
    if (is_function(member) && !call_annotations(member).empty()) found.push_back(member);
  }
  return found;
}

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
    if (!detail::WordIn<member>::fact.is_stated() &&
        !detail::ProxyOf<detail::annotated_function(member)>::fact.is_stated()) {
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
