// The host's name and the process id.
// SPDX-License-Identifier: BSL-1.0
#include "locks/space/announcement.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "core/never_destroyed.hpp"

namespace latchkey::inline v1::detail {
namespace {

/// The argument of name_program; empty: announcements have the name of the program's file.
std::string& given_name() {
  static NeverDestroyed<std::string> name;
  return name.get();
}

}  // namespace

std::string announcement_of_this_process() {
  std::array<char, 256> host{};
  const bool known = ::gethostname(host.data(), host.size() - 1) == 0;
  const std::string& given = given_name();
  return "on " + std::string(known ? host.data() : "an unknown host") + ", process " +
         std::to_string(::getpid()) + " (" +
         (given.empty() ? program_invocation_short_name : given) + ")";
}

void name_program(std::string name) { given_name() = std::move(name); }

}  // namespace latchkey::inline v1::detail
