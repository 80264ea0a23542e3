// Runs latchkey against your store under lost messages, frozen processes and jumping clocks.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <latchkey/backend.hpp>
#include <latchkey/clock.hpp>

namespace latchkey::inline v1::testing {

/// A store of your own for the simulator. It is empty when it is created, and one thread uses it.
class SimulatedStore {
 public:
  virtual ~SimulatedStore() = default;

  /// A new connection. Each simulated process has one, and the simulator has one more. The
  /// simulator drives each request to its end as soon as it is submitted, and simulates the network
  /// itself.
  virtual std::unique_ptr<Backend> connect() = 0;

  /// The server crashed and is back; all connections are closed. Override this if the store loses
  /// its data. Fencing tokens must rise across a restart.
  virtual void restart() {}
};

/// Creates a store that uses `clock`, which jumps at times.
using MakeStore = std::function<std::unique_ptr<SimulatedStore>(Clock& clock)>;

/// A fault that happens at a chosen time.
struct ScheduledFault {
  /// The kinds of faults.
  enum class Kind : std::uint8_t {
    disconnect,      ///< the connection of `process` breaks, and is made anew after `length`
    freeze,          ///< `process` stops for `length`, as SIGSTOP does
    crash,           ///< `process` ends at once, and another one takes its place
    restart,         ///< the server restarts; every connection is made anew after `length`
    clock_forward,   ///< the server's clock jumps forward by `length`
    clock_back,      ///< the server's clock is set back by `length`
    forced_release,  ///< somebody else deletes the lock, or the semaphore, of `key`
  };

  /// When it happens, since the run began.
  std::chrono::milliseconds at{};
  /// The fault that happens.
  Kind kind = Kind::disconnect;
  /// Which process: the number is taken modulo the number of processes that the seed has drawn.
  std::uint32_t process = 0;
  /// Which key: the number is taken modulo the number of keys that the seed has drawn.
  std::uint32_t key = 0;
  /// How long it lasts, or by how much the clock jumps.
  std::chrono::milliseconds length{};
};

/// The settings of a run.
struct SimulationSettings {
  /// The number of events with faults. Events without faults follow until nothing is left to do.
  /// With a schedule, there are at least so many, and more until its last fault is over.
  std::uint64_t steps = 1'000;
  /// Empty: the lock table of the memory backend.
  MakeStore store{};
  /// Whether to keep the trace also if no promise was broken.
  bool trace = false;
  /// These faults happen, in any order of their times, and no fault is drawn. The seed still draws
  /// what the processes do and how long each message takes. Empty: all faults are drawn. A
  /// disconnect of a process whose connection is broken already changes nothing. If the clock is
  /// set back before a restart, fencing tokens rise only if the store keeps the last one.
  std::vector<ScheduledFault> schedule{};
};

/// The result of a run.
struct SimulationReport {
  std::string violation{};   ///< the first broken promise; empty if all were kept
  std::string trace{};       ///< everything that happened, a line for each event
  std::uint64_t hash = 0;    ///< a hash of everything that happened; equal if two runs are
  std::uint64_t grants = 0;  ///< calls that were granted
  std::uint64_t losses = 0;  ///< holds that were lost
};

/// Runs latchkey's own coordinators against the store: two or three processes with up to four
/// callers each, on one or more keys. Unless there is a schedule, the seed decides every fault:
/// messages are lost, duplicated, late and out of order, connections break, processes freeze and
/// crash, the server restarts and its clock jumps. The simulator checks every grant and every reply
/// by its own records, not by those of the library or the store. It detects two holders at once, a
/// deadline later than the replies allow, a token that does not rise, an undetected loss, a call
/// that never ends, and anything left in the store. If the store grants by releases
/// (Capabilities::grants), it also detects a process that starves at a contended key.
///
/// The run uses the lock types that the store offers. The same seed gives the same run on every
/// machine, as long as the store depends only on its requests and its clock. A seed that fails is
/// run again for the trace. There are no threads, sockets or real time. Throws what the store
/// throws, std::logic_error if the store never completes a request, and std::invalid_argument if a
/// time of the schedule is negative.
///
/// Not simulated: a store that is slow or silent (the network loses requests and replies instead),
/// and races within the store.
[[nodiscard]] SimulationReport simulate(std::uint64_t seed,
                                        const SimulationSettings& settings = {});

}  // namespace latchkey::inline v1::testing
