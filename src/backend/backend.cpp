// Names and defaults of the backend interface.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/backend.hpp>

namespace latchkey::inline v1 {

std::string_view to_string(Verb verb) noexcept {
  switch (verb) {
    case Verb::acquire: return "acquire";
    case Verb::acquire_all: return "acquire_all";
    case Verb::renew: return "renew";
    case Verb::verify: return "verify";
    case Verb::downgrade: return "downgrade";
    case Verb::expire: return "expire";
    case Verb::release: return "release";
    case Verb::leave: return "leave";
    case Verb::subscribe: return "subscribe";
    case Verb::unsubscribe: return "unsubscribe";
    case Verb::inspect: return "inspect";
    case Verb::list: return "list";
    case Verb::force_release: return "force_release";
    case Verb::latch_set: return "latch_set";
    case Verb::latch_down: return "latch_down";
    case Verb::latch_count: return "latch_count";
    case Verb::latch_delete: return "latch_delete";
    case Verb::resize: return "resize";
    case Verb::revoke: return "revoke";
  }
  return "?";
}

bool Backend::answer(Request& /*request*/, Outcome& /*outcome*/, Sink& /*sink*/) { return false; }

}  // namespace latchkey::inline v1
