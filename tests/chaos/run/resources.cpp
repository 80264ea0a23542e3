// The descriptors and threads of a process.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/run/resources.hpp"

#include <filesystem>
#include <system_error>

namespace latchkey::chaos {

Resources resources_of(pid_t process) {
  const std::filesystem::path folder = "/proc/" + std::to_string(process);
  Resources used;
  for (const auto& descriptor : std::filesystem::directory_iterator(folder / "fd")) {
    std::error_code closed;
    const std::filesystem::path target = std::filesystem::read_symlink(descriptor, closed);
    ++(target == "anon_inode:[eventfd]" ? used.eventfds : used.descriptors);
  }
  for ([[maybe_unused]] const auto& thread : std::filesystem::directory_iterator(folder / "task")) {
    ++used.threads;
  }
  return used;
}

std::string too_many(const Resources& used, const Resources& at_first) {
  constexpr std::size_t tolerance = 4;
  // A connection keeps up to 16, and a quorum has three.
  constexpr std::size_t most_eventfds = 64;
  if (used.descriptors <= at_first.descriptors + tolerance &&
      used.threads <= at_first.threads + tolerance && used.eventfds <= most_eventfds) {
    return {};
  }
  return std::to_string(used.descriptors) + " descriptors (at first " +
         std::to_string(at_first.descriptors) + ") and " + std::to_string(used.eventfds) +
         " eventfds, " + std::to_string(used.threads) + " threads (at first " +
         std::to_string(at_first.threads) + ")";
}

}  // namespace latchkey::chaos
