// How a driving thread sleeps, and what wakes it.
#include "redis/sleeper.hpp"

#include <linux/futex.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>

namespace latchkey::detail::redis {
namespace {

static_assert(sizeof(std::atomic<Sleeper::Reasons>) == 4, "a futex is 4 bytes");

// std::atomic waits without a time limit only.
void futex(std::atomic<Sleeper::Reasons>& word, int operation, std::uint32_t value,
           const timespec* length) noexcept {
  ::syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, length, nullptr, 0);
}

}  // namespace

void Sleeper::sleep(const Clock& clock, Clock::time_point until) noexcept {
  while (reasons_.load(std::memory_order_acquire) == 0) {
    const Clock::duration length = one_sleep(clock, until);
    if (length <= Clock::duration::zero()) return;
    const auto seconds = std::chrono::floor<std::chrono::seconds>(length);
    const timespec limit{.tv_sec = seconds.count(), .tv_nsec = (length - seconds).count()};
    futex(reasons_, FUTEX_WAIT, 0, &limit);
  }
}

void Sleeper::wake(Reasons reason) noexcept {
  const Reasons before = reasons_.fetch_or(reason, std::memory_order_acq_rel);
  if (before != 0) return;
  const int bell = bell_.load(std::memory_order_relaxed);
  if (bell >= 0) {
    ::eventfd_write(bell, 1);
  } else {
    futex(reasons_, FUTEX_WAKE, 1, nullptr);
  }
}

Clock::duration one_sleep(const Clock& clock, Clock::time_point until) noexcept {
  using namespace std::chrono_literals;
  const bool systems = &clock == &Clock::system();
  const Clock::duration longest = systems ? Clock::duration(1h) : Clock::duration(10ms);
  const Clock::time_point now = clock.now();
  return until <= now ? Clock::duration::zero() : std::min(until - now, longest);
}

}  // namespace latchkey::detail::redis
