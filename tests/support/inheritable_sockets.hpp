// The sockets that a program which this process starts would inherit.
#pragma once

#include <fcntl.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace latchkey::tests {

/// Descriptors without FD_CLOEXEC, except those of standard input and output. A connection that a
/// child has inherited stays open, and logged in, when this process has ended it.
[[nodiscard]] inline std::vector<int> inheritable_sockets() {
  std::vector<int> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string what = std::filesystem::read_symlink(entry.path(), gone);
    const int number = std::atoi(entry.path().filename().c_str());
    const int flags = ::fcntl(number, F_GETFD);
    const bool inherited = flags >= 0 && (flags & FD_CLOEXEC) == 0;
    if (number > 2 && inherited && what.starts_with("socket:")) found.push_back(number);
  }
  return found;
}

}  // namespace latchkey::tests
