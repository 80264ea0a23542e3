// Thousands of histories of lost messages, frozen processes and jumping clocks, over your store.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <latchkey/backend.hpp>
#include <latchkey/clock.hpp>

namespace latchkey::testing {

/// A store of your own as the simulator uses it: empty when it is made, and asked by one thread.
class SimulatedStore {
 public:
  virtual ~SimulatedStore() = default;

  /// A new connection; each simulated process has one, and the simulator another. A request is
  /// driven to its end as soon as it is submitted: the network is the simulator's.
  virtual std::unique_ptr<Backend> connect() = 0;

  /// The server crashed and is back; all connections are closed. Overridden where the store loses
  /// what it had. What the time and the tokens are afterwards is judged as before: fencing tokens
  /// rise.
  virtual void restart() {}
};

/// Makes a store whose time is `clock`, which jumps at times.
using MakeStore = std::function<std::unique_ptr<SimulatedStore>(Clock& clock)>;

/// What is simulated beside the seed.
struct SimulationSettings {
  /// Events with faults among them; then as many without as it takes to come to rest.
  std::uint64_t steps = 1'000;
  /// Empty: latchkey's own table of locks.
  MakeStore store{};
  /// Keep the history as text also where nothing was wrong.
  bool trace = false;
};

/// What one seed came to.
struct SimulationReport {
  std::string violation{};   ///< the first promise that was broken; empty: all were kept
  std::string trace{};       ///< everything that happened, line by line; empty: not asked for
  std::uint64_t hash = 0;    ///< of everything that happened: equal where two runs are equal
  std::uint64_t grants = 0;  ///< calls that were granted
  std::uint64_t losses = 0;  ///< holds that were lost
};

/// Runs latchkey's own coordinators - two or three processes with up to four callers each, on one
/// or two keys - against the store, over a network and with clocks that the seed decides: messages
/// are lost, doubled, late and out of order, links are cut, processes stop, go on and die, the
/// server restarts and its clock jumps. A judge who trusts neither side looks at every grant and
/// every answer: two holders at once, a deadline later than the answers allow, a token that does
/// not rise, a loss that its holder is not told of, a call without an end, something left behind.
///
/// The types that the store offers are used. The same seed gives the same run on every machine, as
/// long as the store decides by its requests and its clock alone. Where a seed fails it is run
/// again for the trace. No thread, socket or real time is involved. Throws what the store throws,
/// and std::logic_error where it leaves a request without an answer.
///
/// What it does not show: a store that is slow or silent (requests are lost before or behind it),
/// and races within it.
[[nodiscard]] SimulationReport simulate(std::uint64_t seed,
                                        const SimulationSettings& settings = {});

}  // namespace latchkey::testing
