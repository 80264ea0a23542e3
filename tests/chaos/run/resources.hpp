// The descriptors and threads of a process.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>

namespace latchkey::chaos {

/// Descriptors and threads of a process, as /proc shows them.
struct Resources {
  std::size_t descriptors = 0;  ///< but eventfds
  std::size_t eventfds = 0;     ///< one for each thread that has slept at a connection at once
  std::size_t threads = 0;
};

[[nodiscard]] Resources resources_of(pid_t process);

/// Describes `used` if it is a few more than `at_first`, which was measured after the first round,
/// or has more eventfds than it may have; otherwise empty.
[[nodiscard]] std::string too_many(const Resources& used, const Resources& at_first);

}  // namespace latchkey::chaos
