// A child process that a test forks.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <stdexcept>

namespace latchkey::tests {

/// fork(), which throws std::runtime_error where that returns -1: a signal to -1 goes to every
/// process of the system.
inline pid_t fork_child() {
  const pid_t child = ::fork();
  if (child == -1) throw std::runtime_error("cannot fork");
  return child;
}

}  // namespace latchkey::tests
