// What the errors of a decorated call say of it.
#include "locks/space/asker.hpp"

#include <chrono>

#include <latchkey/site.hpp>

namespace latchkey::detail {

void Asker::describe(LockSite& site) const {
  if (origin.site == nullptr) return;
  site.method = origin.site->where();
  site.terms = "key template '";
  site.terms += origin.key_template;
  site.terms += "', lease ";
  site.terms += lease.is_watchdog()
                    ? "watchdog"
                    : std::to_string(lease.length(std::chrono::milliseconds(0)).count()) + " ms";
}

}  // namespace latchkey::detail
