// Saying who one is, and reading it of others.
#include "locks/announcement.hpp"

#include <unistd.h>

#include <array>

#include "locks/lock_space.hpp"

namespace latchkey::detail {

std::string announcement_of_this_process() {
  std::array<char, 256> host{};
  const bool known = ::gethostname(host.data(), host.size() - 1) == 0;
  return "on " + std::string(known ? host.data() : "an unknown host") + ", process " +
         std::to_string(::getpid());
}

// `holder` with what it has announced: one look, and where that fails the owner's id must do,
// because the LockTimeout is what the caller is to hear of.
std::string LockSpace::announced(std::string_view key, const std::string& holder) {
  const bool elsewhere = !holder.empty() && holder.find(' ') == std::string::npos;
  if (!options_.announce || !capabilities_.administration || !elsewhere) return holder;
  LockInfo info;
  Request request;
  request.verb = Verb::inspect;
  request.key = key;
  request.info = &info;
  try {
    administer(request);
  } catch (const LockError&) {
    return holder;
  }
  for (const HolderInfo& each : info.holders) {
    if (each.id == holder && !each.announced.empty()) return each.announced + ", owner " + holder;
  }
  return holder;
}

}  // namespace latchkey::detail
