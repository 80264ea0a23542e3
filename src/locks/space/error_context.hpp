// How errors describe the decorated call that they come from.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>

#include <latchkey/attempt.hpp>
#include <latchkey/error.hpp>
#include <latchkey/lease.hpp>

namespace latchkey::inline v1 {
class Locks;
}

namespace latchkey::inline v1::detail {

/// A decorated call, for errors that are thrown in it. Its texts are composed only for an error.
struct ErrorContext {
  Origin origin{};
  Lease lease = watchdog;

  /// Adds the method and its terms to `site`; nothing for a call that is not decorated.
  void describe(LockSite& site) const;
};

/// Reports `why`, which a decorated call does not throw, to the listener of `locks`.
void report_failed_release(const Locks& locks, const LockError& why) noexcept;

}  // namespace latchkey::inline v1::detail
