// What the errors of a decorated call say of it.
#pragma once

#include <string>

#include <latchkey/attempt.hpp>
#include <latchkey/error.hpp>
#include <latchkey/lease.hpp>

namespace latchkey::detail {

/// A decorated call. Its texts are made where there is an error.
struct Asker {
  Origin origin{};
  Lease lease = watchdog;

  void describe(LockSite& site) const;
};

}  // namespace latchkey::detail
