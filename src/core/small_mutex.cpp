// The slow paths of SmallMutex: waiting for the mutex, and waking a waiter.
// SPDX-License-Identifier: BSL-1.0
#include "core/small_mutex.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "core/futex.hpp"

namespace latchkey::inline v1::detail {
namespace {

constexpr int attempts_before_sleep = 40;

long membarrier(int command) noexcept { return ::syscall(SYS_membarrier, command, 0, 0); }

// A full memory barrier in every running thread of this process. Returns false if the system offers
// none. A process registers once; a forked child inherits the registration.
bool barrier_everywhere() noexcept {
  if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0) return true;
  return errno == EPERM && membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0 &&
         membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0;
}

}  // namespace

void SmallMutex::lock_slowly() noexcept {
  // A mutex that is held for less than a microsecond is usually free before a futex wait would
  // begin.
  for (int attempt = 0; attempt < attempts_before_sleep; ++attempt) {
    if (state_.load(std::memory_order_relaxed) == unlocked && try_lock()) return;
  }
  for (;;) {
    asleep_.store(1, std::memory_order_seq_cst);
    const bool sure = barrier_everywhere();
    if (try_lock()) return;  // others may still wait: the unlock wakes one
    // Without the barrier a wake-up may be missed, so the wait is limited to this.
    constexpr timespec a_millisecond{0, 1'000'000};
    futex_wait(asleep_, 1, sure ? nullptr : &a_millisecond);
  }
}

void SmallMutex::wake_one() noexcept {
  asleep_.store(0, std::memory_order_relaxed);
  futex_wake(asleep_);
}

}  // namespace latchkey::inline v1::detail
