// From the URI of one server to a connected transport.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "redis/connect/addresses.hpp"
#include "redis/connect/connector.hpp"
#include "redis/connect/io.hpp"
#include "redis/connect/transport.hpp"
#include "redis/uri/redis_uri.hpp"

namespace latchkey::detail::redis {

/// Looks the name up and tries its addresses one after the other, without ever blocking. What was
/// found is kept, and looked up anew only after none of it could be connected to: a server that
/// comes back where it was costs no look-up. One thread at a time.
class TcpConnector final : public Connector {
 public:
  /// Both outlive it.
  TcpConnector(const RedisUri& uri, Transport& transport);

  Io begin(Clock::time_point now) override;
  Io go_on(Clock::time_point now) override;
  void give_up() noexcept override;
  void wait_for(PollSet& set, PollSet::Source source) const override;

 private:
  Io try_addresses();
  Io try_others_after(Io result);

  const RedisUri& uri_;
  Transport& transport_;
  std::vector<Address> addresses_;
  const bool named_;       ///< the host is a name
  bool outdated_ = false;  ///< none of the addresses could be connected to
  std::size_t next_ = 0;   ///< which address is tried next
  std::size_t left_ = 0;   ///< how many this attempt may yet try
  std::unique_ptr<Lookup> lookup_;
};

}  // namespace latchkey::detail::redis
