// Sleeping for a mutex, and waking who sleeps.
#include "core/small_mutex.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "core/futex.hpp"

namespace latchkey::detail {
namespace {

constexpr int attempts_before_sleep = 40;

long membarrier(int command) noexcept { return ::syscall(SYS_membarrier, command, 0, 0); }

// A full memory barrier in every thread of this process that is running. False: the system has none
// to offer. A process registers once; a forked child is registered as its parent was.
bool barrier_everywhere() noexcept {
  if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0) return true;
  return errno == EPERM && membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0 &&
         membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0;
}

}  // namespace

void SmallMutex::lock_slowly() noexcept {
  // What is held for less than a microsecond is mostly free again before a sleep would begin.
  for (int attempt = 0; attempt < attempts_before_sleep; ++attempt) {
    if (state_.load(std::memory_order_relaxed) == unlocked && try_lock()) return;
  }
  for (;;) {
    asleep_.store(1, std::memory_order_seq_cst);
    const bool sure = barrier_everywhere();
    if (try_lock()) return;  // others may sleep still: the unlock will wake one
    // Without the barrier a wake-up may be missed, and is not waited for longer than this.
    constexpr timespec a_millisecond{0, 1'000'000};
    futex_wait(asleep_, 1, sure ? nullptr : &a_millisecond);
  }
}

void SmallMutex::wake_one() noexcept {
  asleep_.store(0, std::memory_order_relaxed);
  futex_wake(asleep_);
}

}  // namespace latchkey::detail
