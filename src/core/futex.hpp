// Linux futexes: a thread blocks while a word has a value.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>
#include <ctime>

namespace latchkey::inline v1::detail {

using FutexWord = std::atomic<std::uint32_t>;
static_assert(sizeof(FutexWord) == 4, "a futex is 4 bytes");

/// Blocks while `word` is `value`, at most for `length`. May return spuriously.
inline void futex_wait(FutexWord& word, std::uint32_t value, const timespec* length) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, value, length, nullptr, 0);
}

/// Wakes one thread that blocks on `word`. Only the address of `word` is used.
inline void futex_wake(FutexWord& word) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, nullptr, nullptr, 0);
}

/// Like futex_wait and futex_wake, for a word in memory that processes share.
inline void futex_wait_shared(FutexWord& word, std::uint32_t value,
                              const timespec& length) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAIT, value, &length, nullptr, 0);
}
inline void futex_wake_shared(FutexWord& word) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

/// Like futex_wait, until `end` on CLOCK_MONOTONIC, for threads that are woken by their bits.
inline void futex_wait_bits(FutexWord& word, std::uint32_t value, const timespec& end,
                            std::uint32_t bits) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, value, &end, nullptr, bits);
}

/// Wakes all threads that block on `word` with one of these bits.
inline void futex_wake_bits(FutexWord& word, std::uint32_t bits) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAKE_BITSET | FUTEX_PRIVATE_FLAG, INT_MAX, nullptr, nullptr,
            bits);
}

}  // namespace latchkey::inline v1::detail
