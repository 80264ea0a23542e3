// What the decisions about one key share that need no event.
// SPDX-License-Identifier: BSL-1.0
#include "locks/coordinator/logic/key_logic.hpp"

#include <new>
#include <string>
#include <utility>

#include <latchkey/site.hpp>

namespace latchkey::inline v1::detail {

// Others may read of the holder: "Bank::deposit (bank.cpp:12) on web-3, process 7". Without memory
// for that text they read its id only.
void KeyLogic::announce(RemoteHold& claim) const {
  try {
    std::string text;
    if (claim.origin.site != nullptr) text = claim.origin.site->where() + ' ';
    claim.announce(std::move(text) + settings().announcement);
  } catch (const std::bad_alloc&) {
    claim.announce({});
  }
}

}  // namespace latchkey::inline v1::detail
