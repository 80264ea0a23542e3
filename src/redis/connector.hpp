// How one gets to the server that grants.
#pragma once

#include <optional>

#include <latchkey/clock.hpp>

#include "redis/failure.hpp"
#include "redis/io.hpp"
#include "redis/multiplexer/poll_set.hpp"

namespace latchkey::detail::redis {

/// The way to a server, gone anew for every connection: a name is looked up, or somebody is asked
/// which of several servers it is. Never blocks. One thread at a time.
class Connector {
 public:
  Connector() = default;
  Connector(const Connector&) = delete;
  Connector& operator=(const Connector&) = delete;
  virtual ~Connector() = default;

  // --- while there is no connection ---
  /// One attempt begins. moved: the transport is connected; blocked: poll for what `wait_for` adds,
  /// then call `go_on`, which is also called when `due` has come; broken: there is no way.
  virtual Io begin(Clock::time_point now) = 0;
  virtual Io go_on(Clock::time_point now) = 0;
  /// The attempt took too long, or what it led to is over.
  virtual void give_up() noexcept = 0;
  virtual void wait_for(PollSet& set, PollSet::Source source) const = 0;

  // --- at all times ---
  /// When something is due without an event.
  [[nodiscard]] virtual Clock::time_point due() const noexcept { return Clock::never(); }

  // --- while there is a connection ---
  /// Adds what tells that `look` has something to do, which is also called when `due` has come.
  virtual void watch(PollSet& /*set*/, PollSet::Source /*source*/) const {}
  /// Not empty: the way leads somewhere else by now, and the connection shall end.
  virtual std::optional<Failure> look(Clock::time_point /*now*/) { return std::nullopt; }

  // --- around a fork ---
  virtual void lock_for_fork() noexcept {}
  virtual void unlock_after_fork() noexcept {}
  /// In the child: everything is the parent's, and is dropped without a byte.
  virtual void abandon() noexcept { give_up(); }
};

}  // namespace latchkey::detail::redis
