// Lets a test end the process at any store.
// SPDX-License-Identifier: BSL-1.0
#pragma once

namespace latchkey::inline v1::detail::host {

/// Called before each store to a segment; null: nobody. A test sets it, before any other thread
/// uses a segment.
inline void (*store_observer)() noexcept = nullptr;

inline void about_to_store() noexcept {
  if (store_observer != nullptr) [[unlikely]] {
    store_observer();
  }
}

}  // namespace latchkey::inline v1::detail::host
