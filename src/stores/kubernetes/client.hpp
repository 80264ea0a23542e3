// The client of the Leases in a namespace of Kubernetes.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <latchkey/options.hpp>

#include "stores/driver/store_client.hpp"
#include "stores/http2/parked_requests.hpp"
#include "stores/kubernetes/connection.hpp"
#include "stores/kubernetes/lease_listing.hpp"
#include "stores/kubernetes/lease_queue.hpp"
#include "stores/kubernetes/lease_watch.hpp"
#include "stores/kubernetes/observed_leases.hpp"
#include "stores/kubernetes/uri.hpp"

namespace latchkey::inline v1::detail::kubernetes {

/// Gives requests to the queues of their Leases while the link is up; meanwhile they wait for it.
class KubernetesClient final : public stores::StoreClient {
 public:
  KubernetesClient(const KubernetesUri& uri, const Options& options);

  [[nodiscard]] Capabilities capabilities() const noexcept override;
  [[nodiscard]] std::string describe() const override { return description_; }
  [[nodiscard]] std::string warning() const override { return warning_; }
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
  void abandon() noexcept override;

 private:
  void dispatch(Request& request, Sink& sink);
  void dispatch_parked();
  void subscribe(Request& request, Sink& sink);
  void unsubscribe(Request& request, Sink& sink);
  void on_link(bool up);
  void on_event(const WatchEvent& event);
  void on_watch_open();
  void on_watch_denied(const std::string& why);
  void answer_subscribers();
  void drop_idle();

  const std::string description_;
  const bool watches_holds_;
  Clock& clock_;
  mutable ApiConnection link_;
  ObservedLeases observed_;
  LeaseWatch watch_;
  LeaseContext context_;
  LeaseListing listing_;
  std::unordered_map<std::string, std::unique_ptr<LeaseQueue>> queues_;  ///< by the Lease's name
  std::unordered_map<std::string, std::vector<Sink*>> subscribers_;      ///< by the Lease's name
  std::vector<http2::ParkedRequest> subscribing_;                        ///< wait for the watch
  http2::ParkedRequests parked_;
  std::string warning_;
};

}  // namespace latchkey::inline v1::detail::kubernetes
