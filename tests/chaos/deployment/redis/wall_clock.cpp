// The wall clock of a server, which a test sets.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/deployment/redis/wall_clock.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace latchkey::chaos {

WallClock::WallClock() : file_(std::filesystem::temp_directory_path() / "latchkey_clock.XXXXXX") {
  const int file = ::mkstemp(file_.data());
  if (file == -1 || ::ftruncate(file, sizeof *offset_) != 0) {
    throw std::runtime_error("no file for the offset of a clock");
  }
  void* const mapping =
      ::mmap(nullptr, sizeof *offset_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (mapping == MAP_FAILED) throw std::runtime_error("no memory for the offset of a clock");
  offset_ = static_cast<std::int64_t*>(mapping);
}

WallClock::~WallClock() {
  ::munmap(offset_, sizeof *offset_);
  ::unlink(file_.c_str());
}

void WallClock::jump(std::int64_t seconds) noexcept { std::atomic_ref(*offset_) += seconds; }

std::vector<std::string> WallClock::launcher() const {
  return {"env", "LD_PRELOAD=" LATCHKEY_CLOCK_SHIM, "LATCHKEY_CLOCK_OFFSET=" + file_};
}

}  // namespace latchkey::chaos
