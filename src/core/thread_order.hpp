// Reports to ThreadSanitizer the order that locks establish between threads.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string_view>

#include <latchkey/lock_type.hpp>

// Functions of the sanitizer's runtime; null in a program without it.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): its names
extern "C" {
[[gnu::weak]] void __tsan_acquire(void* address);
[[gnu::weak]] void __tsan_release(void* address);
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

namespace latchkey::inline v1::detail {

void annotate_grant(std::string_view key, LockType type) noexcept;
void annotate_release(std::string_view key, LockType type) noexcept;

/// A program under ThreadSanitizer may use a library that was built without it. The sanitizer then
/// sees neither the atomics nor the futexes of latchkey, and would report accesses that a lock
/// guards as races. Every grant and every release is therefore reported to the sanitizer if it is
/// present; otherwise these functions only compare one address with null. READs are ordered after
/// earlier WRITEs, and WRITEs after both; READs are not ordered among each other.
///
/// Keys identify locks, and a few thousand places stand for all keys. Two keys that share a place
/// get an order that does not exist: this can hide a race but never reports a false one.

/// Called before the caller may access what the lock guards, on the thread that was granted the
/// lock.
inline void order_after_grant(std::string_view key, LockType type) noexcept {
  if (&__tsan_acquire != nullptr) [[unlikely]] {
    annotate_grant(key, type);
  }
}

/// Called before the lock can be granted to another owner, on the thread that releases it.
inline void order_before_release(std::string_view key, LockType type) noexcept {
  if (&__tsan_release != nullptr) [[unlikely]] {
    annotate_release(key, type);
  }
}

}  // namespace latchkey::inline v1::detail
