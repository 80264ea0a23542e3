// Ways to connect a transport to the server of a URI; the one over its addresses.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include <latchkey/clock.hpp>

#include "redis/connect/addresses.hpp"
#include "redis/connect/poll_set.hpp"
#include "redis/connect/transport.hpp"
#include "redis/protocol/failure.hpp"
#include "redis/uri/redis_uri.hpp"

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

/// Looks the host name up and tries its addresses one after the other. The addresses are kept until
/// none of them could be connected to, an attempt was cancelled, or a server was not the right one,
/// so a server that returns to its address costs no look-up. The first address that is tried after
/// a look-up is the one behind the address that failed last. Never blocks. One thread at a time.
class TcpConnector final : public Connector {
 public:
  /// `uri` and `transport` outlive the connector.
  TcpConnector(const RedisUri& uri, Transport& transport,
               Lookup::Resolver resolver = Lookup::resolve);

  Io start(Clock::time_point now) override;
  Io resume(Clock::time_point now) override;
  void cancel() noexcept override;
  void distrust() noexcept override;
  void wait_for(PollSet& set, PollSet::Source source) const override;

 private:
  void replace_addresses(std::vector<Address> found);
  Io try_first_address();
  Io try_others_if_broken(Io result);

  const RedisUri& uri_;
  Transport& transport_;
  const Lookup::Resolver resolver_;
  std::vector<Address> addresses_;
  const bool has_name_;    ///< the host is a name and not an address
  bool outdated_ = false;  ///< the next start looks the name up
  std::size_t next_ = 0;   ///< index of the address that is tried next
  std::size_t left_ = 0;   ///< how many addresses this attempt may still try
  std::unique_ptr<Lookup> lookup_;
};

}  // namespace latchkey::inline v1::detail::redis
