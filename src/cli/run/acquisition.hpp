// Acquires on a separate thread, so that the main loop continues to read signals.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include <latchkey/hold.hpp>
#include <latchkey/locks.hpp>

#include "cli/run/run_options.hpp"
#include "cli/run/wake_event.hpp"

namespace latchkey::cli {

/// Connects, acquires, and then sets `done`. From then on the main thread may read the results.
class Acquisition {
 public:
  /// Throws UsageError for an invalid place; all other errors are results.
  Acquisition(const RunOptions& options, const WakeEvent& done);
  Acquisition(const Acquisition&) = delete;
  Acquisition& operator=(const Acquisition&) = delete;
  ~Acquisition() = default;

  /// Ends the acquire and releases its result: the place in a queue, or the lock.
  void abandon();

  /// Valid after `done`: the hold, or none and a reason.
  std::optional<Hold> hold{};
  std::optional<Locks> locks{};
  int exit_code = exit_code::success;  ///< the tool's exit status if there is no hold
  std::string reason{};

 private:
  void acquire(const RunOptions& options, const Place& place, const std::stop_token& cancelled);

  std::jthread thread_;  // the last member: it uses the others
};

}  // namespace latchkey::cli
