// The version of latchkey: that of these headers, and that of the library that the program runs
// with.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <string_view>

// Semantic versioning (CHANGELOG.md): a program that compiles and links with one version does so
// with every later one of the same major number. While that is 0, a new minor number may break it.
#define LATCHKEY_VERSION_MAJOR 0
#define LATCHKEY_VERSION_MINOR 2
#define LATCHKEY_VERSION_PATCH 0

/// The version of the headers as one number: 10203 is 1.2.3.
#define LATCHKEY_VERSION \
  (LATCHKEY_VERSION_MAJOR * 10000 + LATCHKEY_VERSION_MINOR * 100 + LATCHKEY_VERSION_PATCH)

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

/// The version of the library that the program runs with, such as "1.2.3". With a shared library it
/// may be later than LATCHKEY_VERSION, which is that of the headers the program was compiled with.
[[nodiscard]] std::string_view version() noexcept;

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
