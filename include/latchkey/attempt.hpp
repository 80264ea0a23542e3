// The options of one acquire.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string_view>

#include <latchkey/lease.hpp>
#include <latchkey/lock_type.hpp>
#include <latchkey/permits.hpp>
#include <latchkey/wait.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

struct AcquireReport;
class Site;

/// The decorated place of an acquire. Events, LockTimeout and lock-order warnings name it.
struct Origin {
  const Site* site = nullptr;       ///< null: the caller is not a LOCKED
  std::string_view key_template{};  ///< the template of the key; lives as long as the program
};

/// How an acquire treats a key that its owner already holds in the same type:
/// `.reentry(latchkey::Reentry::refuse)`.
enum class Reentry : std::uint8_t {
  count,   ///< counts the hold once more
  refuse,  ///< throws WouldDeadlock
};

/// One acquire. The defaults are those of every call that leaves them out: REENTRANT, default_wait,
/// default_lease.
struct Attempt {
  LockType type = LockType::REENTRANT;
  Wait wait = default_wait;
  Lease lease = default_lease;
  /// Ends the wait with Cancelled. If stop is requested before the call, nothing is sent.
  std::stop_token cancel{};
  Reentry reentry = Reentry::count;
  Origin origin{};
  Permits permits{};  ///< PERMIT
  /// The hold gets a fencing token, as FENCED has one: REENTRANT becomes FENCED; WRITE and FAIR
  /// need Capabilities::tokens. READ and PERMIT, which several owners hold at a time, are refused.
  bool fenced = false;
  /// Not null: filled in before the call returns or throws, unless the lock was granted at once. It
  /// must live until then.
  AcquireReport* report = nullptr;
};

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
