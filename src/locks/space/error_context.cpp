// What errors say of the decorated call that they come from.
// SPDX-License-Identifier: BSL-1.0
#include "locks/space/error_context.hpp"

#include <chrono>

#include <latchkey/site.hpp>

namespace latchkey::inline v1::detail {

void ErrorContext::describe(LockSite& site) const {
  if (origin.site == nullptr) return;
  site.method = origin.site->where();
  site.terms = "key template '";
  site.terms += origin.key_template;
  site.terms += "', lease ";
  site.terms += lease.is_watchdog()
                    ? "watchdog"
                    : std::to_string(lease.length(std::chrono::milliseconds(0)).count()) + " ms";
}

}  // namespace latchkey::inline v1::detail
