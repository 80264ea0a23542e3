// The error messages for keys that cannot be rendered from a call's arguments.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/detail/key/failure.hpp>

#include <string>

#include <latchkey/error.hpp>
#include <latchkey/key_buffer.hpp>

#include <latchkey/detail/key/about.hpp>

namespace latchkey::inline v1::detail {
namespace {

std::string_view what_is_wrong(Reason reason) {
  switch (reason) {
    case Reason::empty: return " is an empty text";
    case Reason::no_element: return " names an element that is not there";
    default: return " has no value";
  }
}

}  // namespace

void throw_failure(std::string_view key_template, std::string_view path, Reason reason) {
  std::string sentence = about_key(key_template);
  sentence += path;
  sentence += what_is_wrong(reason);
  sentence += "; a default is written {";
  sentence += path;
  sentence += " ?: 'other'}";
  throw KeyError(sentence);
}

void throw_too_long(std::string_view key_template) {
  throw KeyError(about_key(key_template) + "it renders to more than " +
                 std::to_string(max_key_size) + " bytes");
}

}  // namespace latchkey::inline v1::detail
