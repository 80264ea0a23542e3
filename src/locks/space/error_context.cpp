// How errors describe the decorated call that they come from.
// SPDX-License-Identifier: BSL-1.0
#include "locks/space/error_context.hpp"

#include <chrono>

#include <latchkey/site.hpp>

#include "locks/async/access.hpp"
#include "locks/space/lock_space.hpp"
#include "locks/space/space_ref.hpp"

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
  const auto add_time = [&](const char* name, std::chrono::milliseconds time) {
    if (time.count() != 0) site.terms += name + std::to_string(time.count()) + " ms";
  };
  add_time(", held at most ", lease.held_at_most());
  add_time(", lock delay ", lease.lock_delay());
}

void report_failed_release(const Locks& locks, const LockError& why) noexcept {
  LockAccess::space(locks)->space().reporter().unlock_failed(why);
}

}  // namespace latchkey::inline v1::detail
