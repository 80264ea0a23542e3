// Which node of a cluster a request goes to.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "redis/cluster/delayed_requests.hpp"
#include "redis/cluster/slots.hpp"
#include "redis/connect/tls.hpp"
#include "redis/router.hpp"
#include "redis/server_connection.hpp"
#include "redis/session/session.hpp"
#include "redis/uri/redis_uri.hpp"

namespace latchkey::inline v1::detail::redis {

/// One connection to each master. Requests and subscriptions go to the owner of their key's slot.
///
/// | a node                   | the router                                                      |
/// |--------------------------|-----------------------------------------------------------------|
/// | replies MOVED            | assigns the slot to the named node, sends the request there and |
/// |                          | queries the slot map                                            |
/// | replies ASK              | sends the request to the named node after ASKING, this once     |
/// | replies TRYAGAIN or      | delays the request and sends it again until its deadline        |
/// | CLUSTERDOWN              |                                                                 |
/// | is silent or unreachable | queries the slot map from other nodes until it is back or       |
/// |                          | another node has its slots, which then receives what was not    |
/// |                          | sent                                                            |
///
/// Nodes keep no order between each other: while a slot moves, a release may arrive before the
/// acquire of its hold. The backend therefore does not promise order, and an acquire that is known
/// to be overtaken by its release ends as unknown without being sent. Source: the Redis cluster
/// specification.
class ClusterRouter final : public Router {
 public:
  /// `tls` outlives the router; null: connections without TLS.
  ClusterRouter(RedisUri uri, const TlsContext* tls, Session::Settings settings);

  void submit(std::span<Request* const> requests, Sink& sink, TimePoint now) override;
  bool next(Delivery& delivery, TimePoint now) noexcept override;
  [[nodiscard]] bool has_news() const noexcept override;
  void tick(TimePoint now) override;
  [[nodiscard]] TimePoint due() const noexcept override;
  [[nodiscard]] bool keeps(const ServerConnection& connection) const noexcept override;
  std::unique_ptr<ServerConnection> drop_idle() noexcept override;
  [[nodiscard]] std::size_t outstanding() const noexcept override;
  Start start(Failure& why) override;
  [[nodiscard]] bool keeps_order() const noexcept override { return false; }
  void forget() noexcept override;

 private:
  struct Completion {
    Request* request;
    Sink* sink;
    Outcome outcome;
  };
  /// A `list`, which every node with slots answers in part.
  struct Listing {
    Request* request;
    Sink* sink;
    std::vector<Request> parts;
    std::size_t unanswered;
    Outcome outcome;
  };
  /// Marks the parts of listings. The router takes their outcomes before a sink is called.
  class ListingPartSink final : public Sink {
    void completed(Request& /*request*/, Outcome&& /*outcome*/) noexcept override {}
    void notified(const Notification& /*notification*/) noexcept override {}
  };

  // requests (cluster_router.cpp)
  void reserve_completions(std::size_t more);
  void route(const QueuedRequest& request, TimePoint now);
  void route_without_owner(const QueuedRequest& request, TimePoint now);
  void delay(const QueuedRequest& request, TimePoint now, std::string why);
  void drop_overtaken(const Request& release);
  void send_delayed(TimePoint now);
  [[nodiscard]] const Failure* why_unreachable() const noexcept;
  void end(Request& request, Sink& sink, std::string_view why,
           Outcome::Kind kind = Outcome::Kind::unknown) noexcept;
  bool take_completion(Delivery& delivery) noexcept;
  void on_delivery(Delivery& delivery, TimePoint now) noexcept;
  void on_redirect(const Delivery& delivery, TimePoint now);
  void start_listing(const QueuedRequest& request, TimePoint now);
  void on_part_listed(Delivery& delivery) noexcept;
  void go_to_next_master(ListPart& part) noexcept;

  // the slot map (cluster_map.cpp)
  ServerConnection& connection_to(const RedisUri::Endpoint& endpoint);
  void assign_slot(std::uint16_t slot, ServerConnection& owner, TimePoint now);
  void apply_map(const SlotMap& map, TimePoint now);
  void set_owners(std::vector<ServerConnection*> owners, TimePoint now);
  void move_off(ServerConnection& loser, ServerConnection* heir, TimePoint now);
  void move_requests_off(ServerConnection& loser, TimePoint now);
  [[nodiscard]] std::uint16_t slot_for(const Request& request) const noexcept;
  [[nodiscard]] ServerConnection* owner_of(const Request& request) const noexcept;
  void want_map(TimePoint now) noexcept;
  void query_map(TimePoint now);
  void connect_to_known_node(TimePoint now);
  [[nodiscard]] bool misses_an_owner(TimePoint now) const noexcept;
  void retire_useless(TimePoint now);

  const RedisUri uri_;
  const TlsContext* const tls_;
  const Session::Settings settings_;
  TimePoint now_{};

  std::vector<ServerConnection*> owners_;  ///< by slot; null: no node serves it
  bool has_map_ = false;
  bool wants_map_ = true;
  TimePoint query_at_{};
  Clock::duration query_pause_{};
  std::size_t last_queried_ = 0;           ///< index of a connection
  std::vector<RedisUri::Endpoint> known_;  ///< nodes to query if no connected one replies
  std::size_t last_probed_ = 0;            ///< index of a known node

  DelayedRequests delayed_;
  std::vector<Completion> completions_;
  std::list<Listing> listings_;
  ListingPartSink part_sink_;
};

}  // namespace latchkey::inline v1::detail::redis
