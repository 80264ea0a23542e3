// Everything that one acquire can be told.
#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string_view>

#include <latchkey/lease.hpp>
#include <latchkey/lock_type.hpp>
#include <latchkey/wait.hpp>

namespace latchkey {

class Site;

/// The decorated place that asks: what events, LockTimeout and reports of lock order name.
struct Origin {
  const Site* site = nullptr;       ///< null: no LOCKED asked
  std::string_view key_template{};  ///< what the key was made from; lives as long as the program
};

/// What an owner does that asks for a key it holds already, in the same type.
enum class Reentry : std::uint8_t {
  count,   ///< the hold is counted once more
  refuse,  ///< WouldDeadlock
};

/// Spells `Reentry::refuse` in `.reentry(latchkey::refuse)`.
inline constexpr Reentry refuse = Reentry::refuse;

/// One acquire. The defaults are LOCKED's: REENTRANT, at most 3 s of waiting, a lease of 30 s.
struct Attempt {
  LockType type = LockType::REENTRANT;
  Wait wait = std::chrono::seconds(3);
  Lease lease = std::chrono::seconds(30);
  /// Ends the wait with Cancelled. If a stop was requested before the call, nothing is sent.
  std::stop_token cancel{};
  Reentry reentry = Reentry::count;
  Origin origin{};
};

}  // namespace latchkey
