// The host's name and the process id.
// SPDX-License-Identifier: BSL-1.0
#include "locks/space/announcement.hpp"

#include <unistd.h>

#include <array>

namespace latchkey::inline v1::detail {

std::string announcement_of_this_process() {
  std::array<char, 256> host{};
  const bool known = ::gethostname(host.data(), host.size() - 1) == 0;
  return "on " + std::string(known ? host.data() : "an unknown host") + ", process " +
         std::to_string(::getpid());
}

}  // namespace latchkey::inline v1::detail
