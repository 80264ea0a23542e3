// The way to a master that sentinels look after.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "redis/connect/connector.hpp"
#include "redis/connect/sentinel_session.hpp"
#include "redis/connect/tcp_connector.hpp"
#include "redis/connect/transport.hpp"
#include "redis/uri/redis_uri.hpp"

namespace latchkey::detail::redis {

/// All sentinels are asked at once. Where they disagree the highest config epoch is right, which is
/// their own rule, so one that was cut off from the others leads nobody back; it is waited for a
/// majority of answers, or for all that are to be had, but not for long once there is one.
///
/// The connections stay, and tell when a failover is on its way: the connection to a master that is
/// no longer one ends at once, also where that one still answers. A failover costs what
/// asynchronous replication had not copied (Redis, "High availability with Redis SentinelSession").
class SentinelResolver final : public Connector {
 public:
  /// `uri` is the deployment's. It, `transport` and `tls` outlive it.
  SentinelResolver(const RedisUri& uri, Transport& transport, const TlsContext* tls,
                   std::chrono::milliseconds timeout);

  Io begin(Clock::time_point now) override;
  Io go_on(Clock::time_point now) override;
  void give_up() noexcept override;
  void wait_for(PollSet& set, PollSet::Source source) const override;
  [[nodiscard]] Clock::time_point due() const noexcept override;
  void watch(PollSet& set, PollSet::Source source) const override;
  std::optional<Failure> look(Clock::time_point now) override;
  void lock_for_fork() noexcept override;
  void unlock_after_fork() noexcept override;
  void abandon() noexcept override;

 private:
  void hear_all(Clock::time_point now);
  Io decide(Clock::time_point now);
  [[nodiscard]] const SentinelSession::Answer* verdict(Clock::time_point now) const noexcept;
  [[nodiscard]] std::optional<Failure> elsewhere(Clock::time_point now) const;
  [[nodiscard]] Failure nobody_answers() const;

  const RedisUri& uri_;
  Transport& transport_;
  std::vector<std::unique_ptr<SentinelSession>> sentinels_;
  std::optional<RedisUri> master_;  ///< as it was when it was dialed
  std::unique_ptr<TcpConnector>
      tcp_connector_;  ///< to the master; null: the sentinels are being asked
  Clock::time_point decide_at_ = Clock::never();  ///< with what answers there are
};

}  // namespace latchkey::detail::redis
