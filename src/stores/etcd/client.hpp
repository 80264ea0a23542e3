// The client of an etcd cluster.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <latchkey/options.hpp>

#include "stores/driver/store_client.hpp"
#include "stores/etcd/administration.hpp"
#include "stores/etcd/connection.hpp"
#include "stores/etcd/lock_queue.hpp"
#include "stores/etcd/sessions.hpp"
#include "stores/etcd/uri.hpp"
#include "stores/etcd/watches.hpp"
#include "stores/http2/parked_requests.hpp"

namespace latchkey::inline v1::detail::etcd {

/// Gives requests to the queues of their locks while the link is up; meanwhile they wait for it.
class EtcdClient final : public stores::StoreClient {
 public:
  EtcdClient(const EtcdUri& uri, const Options& options);

  [[nodiscard]] Capabilities capabilities() const noexcept override;
  [[nodiscard]] std::string describe() const override { return description_; }
  [[nodiscard]] Start start_state() const noexcept override { return link_.start_state(); }
  [[nodiscard]] const ConnectionFailure* failure() const noexcept override {
    return link_.failure();
  }
  void submit(std::span<Request* const> requests, Sink& sink) override {
    parked_.submit(requests, sink, clock_.now());
  }
  void send(Clock::time_point now) override;
  void advance(Clock::time_point now) override;
  void start_over(Clock::time_point now) noexcept override;
  [[nodiscard]] Clock::time_point due() const noexcept override;
  /// The watches of holds do not count: a thread that awaits nothing leads within moments, and then
  /// learns that a hold is gone.
  [[nodiscard]] bool awaits_events() const noexcept override {
    return watches_.awaited() || !link_.is_up();
  }
  void abandon() noexcept override;

 private:
  void dispatch(Request& request, Sink& sink);
  void dispatch_parked();
  void on_link(bool up);
  void on_session_lost(const Session& session);
  void expire_places(Clock::time_point now);
  void drop_idle();

  const std::string description_;
  const std::chrono::seconds session_;
  Clock& clock_;
  mutable EtcdConnection link_;
  Sessions sessions_;
  Watches watches_;
  RecipeContext context_;
  Administration administration_;
  std::unordered_map<std::string, std::unique_ptr<LockQueue>> queues_;
  http2::ParkedRequests parked_;
};

}  // namespace latchkey::inline v1::detail::etcd
