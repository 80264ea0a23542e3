// Saying who one is, and reading it of others.
#include "locks/space/announcement.hpp"

#include <unistd.h>

#include <array>
#include <memory>

#include "locks/space/administration.hpp"
#include "locks/space/lock_space.hpp"

namespace latchkey::detail {

std::string announcement_of_this_process() {
  std::array<char, 256> host{};
  const bool known = ::gethostname(host.data(), host.size() - 1) == 0;
  return "on " + std::string(known ? host.data() : "an unknown host") + ", process " +
         std::to_string(::getpid());
}

// `holder` with what it has announced: one look, and where that fails the owner's id must do,
// because the LockTimeout is what the caller is to hear of.
std::string LockSpace::announced(const Call& call, std::string_view key) {
  std::string holder(call.text.view());
  const bool elsewhere = !holder.empty() && holder.find(' ') == std::string::npos;
  if (!options_.announce || !capabilities_.administration || !elsewhere) return holder;
  auto asked = std::make_unique<Administration>();
  asked->verb = Verb::inspect;
  asked->key = asked->own_key = key;
  asked->info = &asked->own_info;
  // The wait is a bound also where nobody answers this.
  if (!await(asked, later(call.until, call.grace))) return holder;
  if (asked->outcome.kind != Outcome::Kind::granted) return holder;
  for (const HolderInfo& each : asked->own_info.holders) {
    if (each.id == holder && !each.announced.empty()) return each.announced + ", owner " + holder;
  }
  return holder;
}

}  // namespace latchkey::detail
