// An acquire on a thread of its own, so that the main loop goes on reading signals.
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

/// Connects, acquires, and sets `done`. The results belong to the thread from then on.
class Acquisition {
 public:
  /// Throws UsageError for a place that makes no sense; everything else is a result.
  Acquisition(const RunOptions& options, const WakeEvent& done);
  Acquisition(const Acquisition&) = delete;
  Acquisition& operator=(const Acquisition&) = delete;
  ~Acquisition() = default;

  /// Ends the acquire and gives back what came of it: the place in a queue, or the lock.
  void abandon();

  /// After `done`: the hold, or nothing and a reason.
  std::optional<Hold> hold{};
  std::optional<Locks> locks{};
  int exit_code = exit_code::success;  ///< of the tool, where there is no hold
  std::string reason{};

 private:
  void acquire(const RunOptions& options, const Place& place, const std::stop_token& cancelled);

  std::jthread thread_;  // the last member: it uses the others
};

}  // namespace latchkey::cli
