// How a connection to the server that grants locks is made.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <optional>

#include <latchkey/clock.hpp>

#include "redis/connect/io.hpp"
#include "redis/failure.hpp"
#include "redis/multiplexer/poll_set.hpp"

namespace latchkey::inline v1::detail::redis {

/// Finds the server and connects a transport to it: a host name is looked up unless its addresses
/// are known and the last connection gave no reason to doubt them, or sentinels are queried for the
/// master. Never blocks. One thread at a time.
///
/// | state      | start        | resume                   | cancel | connection ended |
/// |------------|--------------|--------------------------|--------|------------------|
/// | idle       | connecting   |                          | idle   |                  |
/// | connecting |              | connecting, connected or | idle   |                  |
/// |            |              | idle (broken)            |        |                  |
/// | connected  |              |                          |        | idle             |
class Connector {
 public:
  Connector() = default;
  Connector(const Connector&) = delete;
  Connector& operator=(const Connector&) = delete;
  virtual ~Connector() = default;

  // --- without a connection ---
  /// Starts one attempt. moved: the transport is connected. blocked: poll for what `wait_for` adds,
  /// then call `resume`, as well as at `due`. broken: the attempt has failed.
  virtual Io start(Clock::time_point now) = 0;
  virtual Io resume(Clock::time_point now) = 0;
  /// Ends an attempt that took too long.
  virtual void cancel() noexcept = 0;
  virtual void wait_for(PollSet& set, PollSet::Source source) const = 0;

  // --- at all times ---
  /// When `resume` or `check_route` is to be called without an event.
  [[nodiscard]] virtual Clock::time_point due() const noexcept { return Clock::never(); }

  // --- with a connection ---
  /// Adds the descriptors after whose events `check_route` is to be called, as well as at `due`.
  virtual void watch(PollSet& /*set*/, PollSet::Source /*source*/) const {}
  /// Not empty: another server is the right one by now, and the connection is to be closed.
  virtual std::optional<Failure> check_route(Clock::time_point /*now*/) { return std::nullopt; }
  /// The connection ends because its server did not complete the handshake, is silent or grants no
  /// locks: the next attempt does not rely on what led to it.
  virtual void distrust() noexcept {}

  // --- around a fork ---
  virtual void lock_for_fork() noexcept {}
  virtual void unlock_after_fork() noexcept {}
  /// In the child: closes everything without sending a byte, because the parent uses it.
  virtual void abandon() noexcept { cancel(); }
};

}  // namespace latchkey::inline v1::detail::redis
