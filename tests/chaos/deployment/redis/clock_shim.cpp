// Preloaded into a server: adds an offset to its wall clock, and leaves its monotonic clock alone.
// libfaketime hangs redis-server, whose allocator asks for the time.
// SPDX-License-Identifier: BSL-1.0
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace {

/// Seconds, in a file that LATCHKEY_CLOCK_OFFSET names. Null: there is none.
const volatile std::int64_t* offset = nullptr;

[[gnu::constructor]] void map_offset() noexcept {
  const char* const name = std::getenv("LATCHKEY_CLOCK_OFFSET");
  const int file = name != nullptr ? ::open(name, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void* const mapping = ::mmap(nullptr, sizeof *offset, PROT_READ, MAP_SHARED, file, 0);
  ::close(file);
  if (mapping != MAP_FAILED) offset = static_cast<const volatile std::int64_t*>(mapping);
}

}  // namespace

// The system call is made directly: to look up libc's function would allocate.
extern "C" int clock_gettime(clockid_t clock, struct timespec* to) noexcept {
  const auto result = static_cast<int>(::syscall(SYS_clock_gettime, clock, to));
  const bool is_wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
  if (result == 0 && is_wall && offset != nullptr) to->tv_sec += *offset;
  return result;
}

extern "C" int gettimeofday(struct timeval* to, void* /*zone*/) noexcept {
  timespec now{};
  const int result = ::clock_gettime(CLOCK_REALTIME, &now);
  to->tv_sec = now.tv_sec;
  to->tv_usec = now.tv_nsec / 1'000;
  return result;
}

extern "C" std::time_t time(std::time_t* to) noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  if (to != nullptr) *to = now.tv_sec;
  return now.tv_sec;
}
