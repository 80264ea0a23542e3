// Support for programs under ThreadSanitizer that use a latchkey built without it.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#if defined(__SANITIZE_THREAD__)
#define LATCHKEY_UNDER_TSAN
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define LATCHKEY_UNDER_TSAN
#endif
#endif

#ifndef LATCHKEY_UNDER_TSAN
// Functions of the sanitizer's runtime; null in a program without it.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): its names
extern "C" {
[[gnu::weak]] void __tsan_ignore_thread_begin();
[[gnu::weak]] void __tsan_ignore_thread_end();
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
#endif

namespace latchkey::inline v1::detail {

/// A program under ThreadSanitizer may use a library that was built without it. The sanitizer then
/// does not see the atomics and futexes that order accesses to the library's own memory. It does
/// see each free and memcpy, and would report them as races. The calling thread's accesses are
/// therefore ignored while it is inside the library; core/thread_order.hpp reports the order that
/// locks establish. A library that was built with the sanitizer, as for its own tests, is checked
/// normally.
#ifdef LATCHKEY_UNDER_TSAN
inline void pause_sanitizer() noexcept {}
inline void resume_sanitizer() noexcept {}
#undef LATCHKEY_UNDER_TSAN
#else
inline void pause_sanitizer() noexcept {
  if (&__tsan_ignore_thread_begin != nullptr) [[unlikely]] {
    __tsan_ignore_thread_begin();
  }
}
inline void resume_sanitizer() noexcept {
  if (&__tsan_ignore_thread_end != nullptr) [[unlikely]] {
    __tsan_ignore_thread_end();
  }
}
#endif

/// Pauses the sanitizer for this thread while the object lives. May be nested.
class SanitizerPause {
 public:
  SanitizerPause() noexcept { pause_sanitizer(); }
  SanitizerPause(const SanitizerPause&) = delete;
  SanitizerPause& operator=(const SanitizerPause&) = delete;
  ~SanitizerPause() { resume_sanitizer(); }
};

/// Resumes the sanitizer during a call of the user's code from within a pause.
class SanitizerResumption {
 public:
  SanitizerResumption() noexcept { resume_sanitizer(); }
  SanitizerResumption(const SanitizerResumption&) = delete;
  SanitizerResumption& operator=(const SanitizerResumption&) = delete;
  ~SanitizerResumption() { pause_sanitizer(); }
};

}  // namespace latchkey::inline v1::detail
