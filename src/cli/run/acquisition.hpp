// Acquires on a separate thread, so that the main loop continues to read signals.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include <latchkey/hold.hpp>
#include <latchkey/locks.hpp>

#include "cli/poll_events.hpp"
#include "cli/run/run_options.hpp"

namespace latchkey::inline v1::cli {

/// Connects, acquires, and then sets `done`. From then on the main thread may read the results.
class Acquisition {
 public:
  /// Throws UsageError for an invalid place; all other errors are results.
  Acquisition(const RunOptions& options, const WakeEvent& done);
  Acquisition(const Acquisition&) = delete;
  Acquisition& operator=(const Acquisition&) = delete;
  ~Acquisition() = default;

  /// When the wait is over if there is no connection by then; time_point::max(): never.
  [[nodiscard]] std::chrono::steady_clock::time_point connect_deadline() const;
  /// True: there is no connection yet, nothing was sent, and nothing will be. The thread may still
  /// be connecting, which cannot be interrupted. False: there is a connection, and the acquire ends
  /// by itself.
  [[nodiscard]] bool give_up_connecting() noexcept;

  /// Ends the acquire and releases its result: the place in a queue, or the lock.
  void abandon();

  /// Valid after `done`: the hold, or none and a reason.
  std::optional<Hold> hold{};
  std::optional<Locks> locks{};
  int exit_code = exit_code::success;  ///< the tool's exit status if there is no hold
  std::string reason{};
  bool busy = false;  ///< somebody else held the lock for the whole wait

 private:
  enum class Stage : unsigned char { connecting, connected, given_up };

  void acquire(const RunOptions& options, const Place& place, const std::stop_token& cancelled);
  /// The command starts with the lease that was asked for. Throws BackendUnavailable.
  static void ensure_lease(Hold& acquired, std::chrono::milliseconds lease);
  /// The rest of the wait: connecting counts against it.
  [[nodiscard]] Wait wait_left() const;

  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  const Wait wait_;
  std::atomic<Stage> stage_{Stage::connecting};

  std::jthread thread_;  // the last member: it uses the others
};

}  // namespace latchkey::inline v1::cli
