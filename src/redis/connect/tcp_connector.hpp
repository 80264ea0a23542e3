// Connects a transport to one server.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "redis/connect/addresses.hpp"
#include "redis/connect/connector.hpp"
#include "redis/connect/io.hpp"
#include "redis/connect/transport.hpp"
#include "redis/uri/redis_uri.hpp"

namespace latchkey::inline v1::detail::redis {

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
