// The classes whose annotated functions the check at start looks at.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

/// A class with annotated functions, of LATCHKEY_CHECK_ANNOTATIONS. Constant-initialised, and
/// linked into one list before main. Programs of C++26 make them; the library, which is C++20,
/// reads them.
struct AnnotatedClass {
  /// Appends the functions that run without their annotations: "bank::Bank::deposit (bank.cpp:12)".
  void (*append_unbound)(std::vector<std::string>& functions);
  std::atomic<bool> is_listed{false};
  const AnnotatedClass* next = nullptr;
};

/// Links `known` into the list, once. Returns true, so that the call can initialise a static.
/// Lock-free.
bool register_annotated_class(AnnotatedClass& known) noexcept;

/// The annotated functions of all listed classes that run without their annotations, sorted.
[[nodiscard]] std::vector<std::string> unbound_functions();

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop
