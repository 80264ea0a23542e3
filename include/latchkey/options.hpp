// What can be set when Locks are made.
#pragma once

#include <latchkey/cxx20.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace latchkey {

class Clock;
class Listener;

/// Whether wake-ups in a Redis cluster go by SPUBLISH: AUTO decides as Redisson does.
enum class ShardedPubSub : std::uint8_t { AUTO, ON, OFF };

/// Whether Locks can be made while their server is down.
enum class Startup : std::uint8_t {
  require,  ///< no: Locks::connect throws BackendUnavailable
  /// Yes: the listener is told a `warning` (std::clog where there is none), acquires end as
  /// BackendUnavailable, and once the server is there it grants. What answers and cannot serve is a
  /// BackendRefused at connect; where it answers later, a `warning` and a BackendRefused of calls.
  allow_down,
};

/// Options of one Locks. Checked together when the Locks are made; a value out of range is a
/// std::invalid_argument that names it.
struct Options {
  /// Put before every key, as Redisson's NameMapper does.
  std::string prefix{};
  /// The lease of a hold that the watchdog renews, every third of it. 30 ms to 1 day.
  std::chrono::milliseconds watchdog = std::chrono::seconds(30);
  /// How long one command may stay without an answer before its outcome counts as unknown.
  std::chrono::milliseconds command_timeout = std::chrono::seconds(2);
  /// How long an acquire with `forever` goes on without any answer.
  std::chrono::milliseconds unavailable_after = std::chrono::seconds(10);
  /// Whether connect throws where the server does not answer (Redis only). A quorum connects though
  /// servers are absent.
  Startup startup = Startup::require;
  /// How many replicas must confirm a grant, and whatever prolongs one (Redis only; docs/redis.md).
  /// With too few there is none: the wait ends as BackendUnavailable. Costs a round trip to the
  /// replicas with each acquire and release; a server without WAIT is a BackendRefused.
  int min_replicas = 0;
  /// Redis Cluster only. ON where a node has no SPUBLISH is a BackendRefused.
  ShardedPubSub sharded = ShardedPubSub::AUTO;
  /// Tells the listener (std::clog where there is none) the first time that decorated calls take
  /// the locks of two key templates in both orders, or two keys of one template in descending
  /// order: threads that do so at once can wait for each other. Costs nested calls a few
  /// microseconds.
  bool check_order = false;
  /// Says who holds: host, process and method are put beside each hold for as long as it lasts, and
  /// a LockTimeout names those of the holder. Redis only, where it costs one small command more
  /// with each acquire, renewal and release, and a look when a LockTimeout is thrown; one that the
  /// server forbids is left out. Whoever can read there reads it.
  bool announce = false;
  /// Where the time comes from; null: Clock::system(). It must outlive the Locks and their holds.
  Clock* clock = nullptr;
  /// Who is told of events; null: nobody. It must outlive the Locks and their holds.
  Listener* listener = nullptr;
};

}  // namespace latchkey
