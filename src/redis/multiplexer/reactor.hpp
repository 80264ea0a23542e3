// Watches the connections and handles their events.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <latchkey/clock.hpp>

#include "core/thread_annotations.hpp"
#include "redis/connect/poll_set.hpp"
#include "redis/multiplexer/multiplexer_state.hpp"
#include "redis/protocol/failure.hpp"
#include "redis/routing/router.hpp"

namespace latchkey::inline v1::detail::redis {

/// The reactor (POSA2) of one ConnectionMultiplexer: it knows which descriptors to poll and until
/// when, and handles the events and deadlines. Only the leader handles them. A handler unlocks the
/// state's mutex during system calls; other threads may submit and send then.
class Reactor {
 public:
  explicit Reactor(const Clock& clock) noexcept : clock_(clock) {}

  // --- what to wait for ---
  /// Adds the descriptors of all connections. Only the leader calls it. Throws std::bad_alloc.
  static void add_descriptors(const MultiplexerState& state, PollSet& set)
      LATCHKEY_REQUIRES(state.mutex);
  /// A new number after each change of the descriptors.
  [[nodiscard]] std::uint64_t generation() const noexcept { return generation_; }
  /// When `handle_deadlines` has something to do.
  [[nodiscard]] static Clock::time_point next_deadline(const MultiplexerState& state) noexcept
      LATCHKEY_REQUIRES(state.mutex);
  /// The first of those deadlines that a submitted request may bring forward.
  [[nodiscard]] static Clock::time_point next_deadline_of_submit(
      const MultiplexerState& state) noexcept LATCHKEY_REQUIRES(state.mutex);

  // --- what has happened ---
  /// Handles what the poll reported. Another thread may have read since, and connections may have
  /// come and gone. Throws std::bad_alloc.
  void handle_events(MultiplexerState& state, const PollSet& polled) LATCHKEY_REQUIRES(state.mutex);
  /// Handles timeouts and failures: ends connections, starts new ones, removes idle ones. Throws
  /// std::bad_alloc.
  void handle_deadlines(MultiplexerState& state) LATCHKEY_REQUIRES(state.mutex);

 private:
  enum class ConnectStep : std::uint8_t { start, resume };

  void handle_event(MultiplexerState& state, PollSet::Source source, short events)
      LATCHKEY_REQUIRES(state.mutex);
  void handle_io(MultiplexerState& state, ServerConnection& connection, short events)
      LATCHKEY_REQUIRES(state.mutex);
  void handle_deadlines_of(MultiplexerState& state, ServerConnection& connection)
      LATCHKEY_REQUIRES(state.mutex);
  void connect(MultiplexerState& state, ServerConnection& connection, ConnectStep step)
      LATCHKEY_REQUIRES(state.mutex);
  void check_route(MultiplexerState& state, ServerConnection& connection)
      LATCHKEY_REQUIRES(state.mutex);
  void read(MultiplexerState& state, ServerConnection& connection) LATCHKEY_REQUIRES(state.mutex);
  void disconnect(MultiplexerState& state, ServerConnection& connection, Failure failure)
      LATCHKEY_REQUIRES(state.mutex);
  static void remove_idle(MultiplexerState& state) LATCHKEY_REQUIRES(state.mutex);

  const Clock& clock_;
  std::uint64_t generation_ = 0;
  std::array<char, 16'384> buffer_{};  ///< holds the largest TLS record
};

}  // namespace latchkey::inline v1::detail::redis
