// What ThreadSanitizer is told of the order that locks bring to threads.
#pragma once

#include <string_view>

#include <latchkey/lock_type.hpp>

// Of the sanitizer's runtime; null in a program without it.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): its names
extern "C" {
[[gnu::weak]] void __tsan_acquire(void* address);
[[gnu::weak]] void __tsan_release(void* address);
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

namespace latchkey::detail {

void tell_sanitizer_of_grant(std::string_view key, LockType type) noexcept;
void tell_sanitizer_of_release(std::string_view key, LockType type) noexcept;

/// A program under ThreadSanitizer may use a library that was built without it. Then the sanitizer
/// sees neither atomics nor futexes of latchkey, and would report what a lock guards as a race. So
/// every grant and every release is told to it, if it is there; otherwise these cost the look at
/// one address. READs come after the WRITEs before them, and WRITEs after both; READs in any order.
///
/// Keys stand for locks, and a few thousand places for keys: two keys in one place make an order
/// that is none, which may hide a race and never reports a false one.

/// Before the caller may touch what the lock guards, on the thread that was granted it.
inline void order_after_grant(std::string_view key, LockType type) noexcept {
  if (&__tsan_acquire != nullptr) [[unlikely]] {
    tell_sanitizer_of_grant(key, type);
  }
}

/// Before anybody else can be granted the lock, on the thread that gives it back.
inline void order_before_release(std::string_view key, LockType type) noexcept {
  if (&__tsan_release != nullptr) [[unlikely]] {
    tell_sanitizer_of_release(key, type);
  }
}

}  // namespace latchkey::detail
