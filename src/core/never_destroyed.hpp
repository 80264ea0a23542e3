// An object that lives as long as the process.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <new>

namespace latchkey::inline v1::detail {

/// For function-local statics that threads and other statics use until the process ends. The object
/// is in place and not on the heap: ThreadSanitizer sees the writes of `new` but, in a library
/// built without the sanitizer, does not see the guard of the static, and would report the first
/// lock of a mutex in the object as a race.
template <class T>
class NeverDestroyed {
 public:
  NeverDestroyed() { new (static_cast<void*>(place_)) T; }
  NeverDestroyed(const NeverDestroyed&) = delete;
  NeverDestroyed& operator=(const NeverDestroyed&) = delete;

  [[nodiscard]] T& get() noexcept { return *std::launder(reinterpret_cast<T*>(place_)); }

 private:
  alignas(T) unsigned char place_[sizeof(T)];
};

}  // namespace latchkey::inline v1::detail
