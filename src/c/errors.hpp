// From exceptions to the errors of the C interface.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/latchkey.h>

#include <string>
#include <utility>

struct latchkey_error {
  latchkey_code code;
  std::string message;
};

namespace latchkey::inline v1::detail::c {

/// Stores the exception that is being handled; nothing if `error` is null.
void store_current_exception(latchkey_error** error) noexcept;

/// Returns what `body` returns, or `failed` if it throws.
template <class T, class Body>
T guarded(latchkey_error** error, T failed, Body&& body) noexcept {
  try {
    return std::forward<Body>(body)();
  } catch (...) {
    store_current_exception(error);
    return failed;
  }
}

}  // namespace latchkey::inline v1::detail::c
