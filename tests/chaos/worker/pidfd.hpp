// A descriptor of a process, which stays that of this process when its id is used again.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "core/file_descriptor.hpp"

namespace latchkey::chaos {

// The system calls are made directly: <sys/pidfd.h> of glibc 2.36 cannot be used in C++.

/// Readable once the process has ended. Not valid: see errno.
inline detail::FileDescriptor open_process(pid_t process) noexcept {
  return detail::FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
}

inline void signal_process(const detail::FileDescriptor& process, int number) noexcept {
  ::syscall(SYS_pidfd_send_signal, process.get(), number, nullptr, 0);
}

}  // namespace latchkey::chaos
