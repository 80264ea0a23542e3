// The steps of decisions about one key that need no event.
// SPDX-License-Identifier: BSL-1.0
#include "locks/coordinator/logic/key_logic.hpp"

#include <chrono>
#include <new>
#include <string>
#include <utility>

#include <latchkey/clock.hpp>
#include <latchkey/site.hpp>

#include "core/text/utc_text.hpp"

namespace latchkey::inline v1::detail {

// The text is such as "Bank::deposit (bank.cpp:12) on web-3, process 7 (bank), since
// 2026-11-27T12:15:00Z". Without memory for it others read only the id of the hold.
void KeyLogic::announce(RemoteHold& claim) const {
  try {
    std::string text;
    if (claim.origin.site != nullptr) text = claim.origin.site->where() + ' ';
    text += settings().announcement;
    if (settings().announced_time != nullptr) {
      const auto now = settings().announced_time->wall();
      text += ", since " + utc_text(std::chrono::floor<std::chrono::seconds>(now));
    }
    claim.announce(std::move(text));
  } catch (const std::bad_alloc&) {
    claim.announce({});
  }
}

HoldLimits::Number KeyLogic::begin_limit(const AcquireTerms& terms, RemoteHold& hold,
                                         Clock::time_point now) noexcept {
  if (terms.member != nullptr) return 0;
  return hold.limits.add(later(now, terms.lease.held_at_most()));
}

}  // namespace latchkey::inline v1::detail
