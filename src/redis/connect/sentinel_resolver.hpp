// Connects to the master that sentinels name.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "redis/connect/connector.hpp"
#include "redis/connect/sentinel_session.hpp"
#include "redis/connect/transport.hpp"
#include "redis/uri/redis_uri.hpp"

namespace latchkey::inline v1::detail::redis {

/// Queries all sentinels at once. If they disagree, the highest config epoch is right, by the
/// sentinels' own rule, so one that is cut off from the others does no harm. The resolver waits for
/// the answers of a majority, or of all that reply, but not for long after the first one.
///
/// The connections to the sentinels stay open and report a failover: the connection to the old
/// master is closed at once, even if that server still replies. A failover loses what asynchronous
/// replication had not copied (Redis, "High availability with Redis Sentinel").
class SentinelResolver final : public Connector {
 public:
  /// `uri` is that of the deployment. It, `transport` and `tls` outlive the resolver.
  SentinelResolver(const RedisUri& uri, Transport& transport, const TlsContext* tls,
                   std::chrono::milliseconds timeout);

  Io start(Clock::time_point now) override;
  Io resume(Clock::time_point now) override;
  void cancel() noexcept override;
  void wait_for(PollSet& set, PollSet::Source source) const override;
  [[nodiscard]] Clock::time_point due() const noexcept override;
  void watch(PollSet& set, PollSet::Source source) const override;
  std::optional<Failure> check_route(Clock::time_point now) override;
  void lock_for_fork() noexcept override;
  void unlock_after_fork() noexcept override;
  void abandon() noexcept override;

 private:
  void resume_all(Clock::time_point now);
  Io decide(Clock::time_point now);
  [[nodiscard]] const SentinelSession::Answer* best_answer(Clock::time_point now) const noexcept;
  [[nodiscard]] std::optional<Failure> why_not_master(Clock::time_point now) const;
  [[nodiscard]] Failure no_sentinel_answers() const;

  const RedisUri& uri_;
  Transport& transport_;
  std::vector<std::unique_ptr<SentinelSession>> sentinels_;
  std::optional<RedisUri> master_;                ///< the server that `tcp_connector_` connects to
  std::unique_ptr<TcpConnector> tcp_connector_;   ///< null: the sentinels are being queried
  Clock::time_point decide_at_ = Clock::never();  ///< when to decide without further answers
};

}  // namespace latchkey::inline v1::detail::redis
