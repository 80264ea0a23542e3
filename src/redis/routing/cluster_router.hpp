// Which node of a cluster a request goes to.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <latchkey/backend.hpp>
#include <latchkey/clock.hpp>

#include "redis/connect/tls.hpp"
#include "redis/routing/router.hpp"
#include "redis/session/delivery_queue.hpp"
#include "redis/session/session.hpp"
#include "redis/session/slots.hpp"
#include "redis/uri/redis_uri.hpp"

namespace latchkey::inline v1::detail::redis {

/// Requests that no node of the cluster can serve now. Each is routed again after a pause that
/// grows with its age: while a cluster is down, each hold has a request here. One pass over all of
/// them takes out those that are due. Pure; one thread at a time.
class DelayedRequests {
 public:
  using TimePoint = Clock::time_point;
  struct Delayed {
    QueuedRequest request;
    TimePoint at;     ///< when it is routed again
    std::string why;  ///< the reason if its deadline passes first
  };

  [[nodiscard]] std::size_t size() const noexcept { return acquires_.size() + others_.size(); }
  /// When the first of them is to be routed again.
  [[nodiscard]] TimePoint due() const noexcept { return due_; }

  /// `submitted_at` is when the request came. Throws std::bad_alloc.
  void add(const QueuedRequest& request, TimePoint submitted_at, TimePoint now, std::string why) {
    const auto pause = std::clamp<Clock::duration>(now - submitted_at, least_pause, most_pause);
    const TimePoint at = std::min(later(now, pause), request.deadline);
    list_of(*request.request).push_back({request, at, std::move(why)});
    due_ = std::min(due_, at);
  }
  /// The slot map has changed: all of them are due at once.
  void retry_all(TimePoint now) noexcept {
    for (std::list<Delayed>* const list : {&acquires_, &others_}) {
      for (Delayed& each : *list) each.at = now;
    }
    if (size() > 0) due_ = now;
  }
  /// Takes out the acquires for which `drops(request)` holds, and calls `end(delayed)` for each.
  template <class Drops, class End>
  void drop_acquires(Drops&& drops, End&& end) {
    std::erase_if(acquires_, [&](Delayed& each) {
      if (!drops(*each.request.request)) return false;
      end(each);
      return true;
    });
  }
  /// Takes out what is due and calls `visit(delayed)` for each, which may add and drop others. An
  /// acquire comes before its release.
  template <class Visit>
  void take_due(TimePoint now, Visit&& visit) {
    if (now < due_) return;
    due_ = Clock::never();
    std::list<Delayed> taken;
    for (std::list<Delayed>* const list : {&acquires_, &others_}) {
      for (auto next = list->begin(); next != list->end();) {
        const auto each = next++;
        if (each->at <= now) {
          taken.splice(taken.end(), *list, each);
        } else {
          due_ = std::min(due_, each->at);
        }
      }
    }
    for (Delayed& each : taken) visit(each);
  }
  void clear() noexcept {
    acquires_.clear();
    others_.clear();
    due_ = Clock::never();
  }

 private:
  static constexpr std::chrono::milliseconds least_pause{20}, most_pause{250};

  [[nodiscard]] std::list<Delayed>& list_of(const Request& request) noexcept {
    const bool acquires = request.verb == Verb::acquire || request.verb == Verb::acquire_all;
    return acquires ? acquires_ : others_;
  }

  std::list<Delayed> acquires_, others_;
  TimePoint due_ = Clock::never();
};

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
