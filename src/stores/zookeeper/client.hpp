// The client of a ZooKeeper ensemble.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <deque>
#include <span>
#include <string>
#include <string_view>

#include <latchkey/options.hpp>

#include "stores/driver/store_client.hpp"
#include "stores/zookeeper/administration.hpp"
#include "stores/zookeeper/calls.hpp"
#include "stores/zookeeper/connection.hpp"
#include "stores/zookeeper/nodes.hpp"
#include "stores/zookeeper/subscriptions.hpp"

namespace latchkey::inline v1::detail::zookeeper {

/// Locks as Curator keeps them. Requests that come while there is no connection wait for one, for
/// 250 ms after the ensemble is known to be down.
class ZooKeeperClient final : public stores::StoreClient, private ConnectionEvents {
 public:
  ZooKeeperClient(const ZooKeeperUri& uri, const Options& options);

  [[nodiscard]] Capabilities capabilities() const noexcept override;
  [[nodiscard]] std::string describe() const override { return uri_.describe(); }
  [[nodiscard]] Start start_state() const noexcept override;
  [[nodiscard]] const ConnectionFailure* failure() const noexcept override;
  void submit(std::span<Request* const> requests, Sink& sink) override;
  void send(Clock::time_point now) override;
  void advance(Clock::time_point now) override;
  void start_over(Clock::time_point now) noexcept override;
  [[nodiscard]] Clock::time_point due() const noexcept override;
  [[nodiscard]] bool awaits_events() const noexcept override;
  void abandon() noexcept override;

  /// For tests. Only while the link is up and nobody drives.
  [[nodiscard]] clientid_t session_id() { return connection_.session().id(); }

 private:
  struct QueuedRequest {
    Request* request;
    Sink* sink;
    Clock::time_point submitted;
  };

  void on_link_lost(const std::string& why) override;
  void on_session_lost() override;
  void on_link_up(bool resumed) override;
  void on_down(const std::string& why) override;
  void on_node_event(std::string_view path, NodeEvent event) override;

  void dispatch(Request& request, Sink& sink);
  void subscribe(Request& request, Sink& sink);
  void dispatch_pending();
  void give_up_pending(Clock::time_point now);
  [[nodiscard]] Clock::time_point gives_up_at(const QueuedRequest& pending) const noexcept;

  const ZooKeeperUri uri_;
  const std::chrono::milliseconds timeout_;
  const bool watches_;
  Clock& clock_;
  ZooKeeperConnection connection_;
  Nodes nodes_;
  Calls calls_;
  NodeQueue queue_;
  Administration administration_;
  Subscriptions subscriptions_;
  std::deque<QueuedRequest> pending_;
  Clock::time_point driven_at_{};  ///< the last `advance`
};

}  // namespace latchkey::inline v1::detail::zookeeper
