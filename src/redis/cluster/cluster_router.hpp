// Which node of a cluster a request goes to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "redis/cluster/slots.hpp"
#include "redis/connect/tls.hpp"
#include "redis/router.hpp"
#include "redis/server_connection.hpp"
#include "redis/session/session.hpp"
#include "redis/uri/redis_uri.hpp"

namespace latchkey::detail::redis {

/// One connection to each master; requests follow their keys' slots, and so do subscriptions.
///
/// | a node says, or does  | what follows                                                       |
/// |-----------------------|--------------------------------------------------------------------|
/// | MOVED                 | the slot is that node's, the request goes there, the map is asked  |
/// |                       | for                                                                |
/// | ASK                   | the request goes there behind ASKING, this once                    |
/// | TRYAGAIN, CLUSTERDOWN | the request waits and is sent again while its time lasts           |
/// | nothing, or it is gone| the map is asked for from others until it is up again or another   |
/// |                       | has its slots; what was not sent goes to that one                  |
///
/// Nodes know nothing of each other's order: where a slot moves, a release may arrive before the
/// acquire that it is for, so this is no backend that keeps the order. An acquire that is known to
/// have been overtaken by its release ends as unknown, without having run.
/// Source: the Redis cluster specification.
class ClusterRouter final : public Router {
 public:
  /// `tls` outlives it; null: without.
  ClusterRouter(RedisUri uri, const TlsContext* tls, Session::Settings settings);

  void submit(std::span<Request* const> requests, Sink& sink, TimePoint now) override;
  bool next(Delivery& delivery, TimePoint now) noexcept override;
  [[nodiscard]] bool has_news() const noexcept override;
  void tick(TimePoint now) override;
  [[nodiscard]] TimePoint due() const noexcept override;
  [[nodiscard]] bool keeps(const ServerConnection& wire) const noexcept override;
  std::unique_ptr<ServerConnection> drop_idle() noexcept override;
  [[nodiscard]] std::size_t outstanding() const noexcept override;
  Start start(Failure& why) override;
  [[nodiscard]] bool keeps_order() const noexcept override { return false; }
  void forget() noexcept override;

 private:
  struct Parked {
    QueuedRequest request;
    TimePoint at;
    std::string why;
  };
  struct Ended {
    Request* request;
    Sink* sink;
    Outcome outcome;
  };
  /// A list of all nodes' locks.
  struct Listing {
    Request* request;
    Sink* sink;
    std::vector<Request> parts;
    std::size_t left;
    Outcome outcome;
  };
  /// Of the parts of listings; what they are told is taken on the way.
  class Parts final : public Sink {
    void completed(Request& /*request*/, Outcome&& /*outcome*/) noexcept override {}
    void notified(const Notification& /*notification*/) noexcept override {}
  };

  // requests (cluster.cpp)
  void route(const QueuedRequest& request, TimePoint now);

  void make_room(std::size_t more);
  void park(const QueuedRequest& request, TimePoint at, std::string why);
  void forget_overtaken(const Request& release);
  void send_parked(TimePoint now);
  [[nodiscard]] const Failure* nowhere_to_ask() const noexcept;
  void end(Request& request, Sink& sink, std::string_view why,
           Outcome::Kind kind = Outcome::Kind::unknown) noexcept;
  void redirect(const Delivery& delivery, TimePoint now);
  void begin_listing(const QueuedRequest& request, TimePoint now);
  void listed(const Delivery& delivery) noexcept;

  // the map (cluster_map.cpp)
  ServerConnection& wire_at(const RedisUri::Endpoint& place);
  void give(std::uint16_t slot, ServerConnection& owner, TimePoint now);
  void learn(const SlotMap& map, TimePoint now);
  void move_from(ServerConnection& loser, ServerConnection* heir, TimePoint now);
  void move_requests(ServerConnection& loser, TimePoint now);
  [[nodiscard]] ServerConnection* owner_of(const Request& request) const noexcept;
  void want_map(TimePoint now) noexcept;
  void ask_for_map(TimePoint now);
  void send_scout(TimePoint now);
  [[nodiscard]] bool in_trouble(TimePoint now) const noexcept;
  void retire_useless(TimePoint now);

  const RedisUri uri_;
  const TlsContext* const tls_;
  const Session::Settings settings_;
  std::vector<ServerConnection*> owners_;  ///< by slot; null: nobody serves it
  bool has_map_ = false;

  std::vector<RedisUri::Endpoint> known_;  ///< nodes to ask when no other answers
  std::size_t scouted_ = 0, asked_ = 0;

  bool wanted_ = true;
  TimePoint ask_at_{};
  Clock::duration ask_pause_{};
  TimePoint now_{};

  std::vector<Parked> parked_;
  std::vector<Ended> ended_;
  std::list<Listing> listings_;
  Parts parts_;
};

}  // namespace latchkey::detail::redis
