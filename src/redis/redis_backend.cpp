// The backend for a deployment of Redis.
// SPDX-License-Identifier: BSL-1.0
#include "redis/redis_backend.hpp"

#include <string>
#include <utility>
#include <vector>

#include <latchkey/error.hpp>

#include "redis/multiplexer/connection_multiplexer.hpp"
#include "redis/multiplexer/event_loop.hpp"
#include "redis/session/slots.hpp"

namespace latchkey::inline v1::detail::redis {
namespace {

class RedisBackend final : public Backend {
 public:
  RedisBackend(RedisUri uri, const Options& options, bool may_be_absent)
      : connections_(std::move(uri), options) {
    const auto failure = connections_.start();
    if (!failure || (may_be_absent && !failure->permanent)) return;
    LockSite site{{}, {}, describe()};
    if (failure->permanent) throw BackendRefused(std::move(site), failure->text);
    throw BackendUnavailable(std::move(site), failure->text);
  }

  Capabilities capabilities() const noexcept override {
    Capabilities offered;
    const bool set = connections_.uri().locks == RedisUri::Locks::set;
    offered.fenced = true;
    offered.fair = offered.read_write = offered.tokens = offered.latches = offered.permits =
        offered.revocation = !set;
    offered.pushes = offered.administration = offered.expires = true;
    offered.batches_checks = true;
    offered.watches = connections_.watches();
    // Without a cluster, one script may use keys of all slots.
    const bool cluster = connections_.uri().deployment == RedisUri::Deployment::cluster;
    offered.one_step = cluster ? Capabilities::OneStep::partition : Capabilities::OneStep::all;
    // There are no queues of SET NX PX locks, and no replica has confirmed what a release grants.
    offered.grants = !set && connections_.uri().min_replicas == 0;
    offered.in_order = connections_.keeps_order();
    offered.recalls = offered.watches && offered.grants;
    return offered;
  }

  bool same_partition(std::string_view key, std::string_view other) const noexcept override {
    return slot_of(key) == slot_of(other);
  }

  std::string describe() const override { return connections_.uri().describe(); }

  std::string identity() const override { return connections_.identity(); }

  std::string warning() const override { return connections_.warning(); }
  std::vector<Connection> connections() const override { return connections_.connections(); }

  void submit(std::span<Request* const> requests, Sink& sink) override {
    connections_.submit(requests, sink);
  }
  void cork() noexcept override { connections_.cork(); }
  void uncork() noexcept override { connections_.uncork(); }
  void drive(Parker& parker, Clock::time_point until) override {
    connections_.drive(parker, until);
  }
  std::unique_ptr<LoopDriver> make_loop_driver() override {
    return std::make_unique<ConnectionMultiplexer::EventLoop>(connections_);
  }
  void forget_parent() noexcept override { connections_.forget_parent(); }

 private:
  ConnectionMultiplexer connections_;
};

}  // namespace

std::unique_ptr<Backend> make_redis_backend(std::string_view uri, const Options& options) {
  const bool may_be_absent = options.startup == Startup::allow_down;
  return std::make_unique<RedisBackend>(RedisUri::parse(uri), options, may_be_absent);
}

// A quorum does not watch: after a change at one server it would check before the others change.
std::unique_ptr<Backend> make_redis_member(std::string_view uri, const Options& options) {
  Options of_member = options;
  of_member.watch_holds = false;
  return std::make_unique<RedisBackend>(RedisUri::parse(uri), of_member, true);
}

}  // namespace latchkey::inline v1::detail::redis
