// The backend for one Redis server.
#include "redis/redis_backend.hpp"

#include <string>
#include <utility>

#include <latchkey/error.hpp>

#include "redis/shared_connection.hpp"

namespace latchkey::detail::redis {
namespace {

class RedisBackend final : public Backend {
 public:
  RedisBackend(RedisUri uri, const Options& options, bool may_be_absent)
      : connection_(std::move(uri), options.command_timeout,
                    options.clock != nullptr ? *options.clock : Clock::system()) {
    const auto failure = connection_.start();
    if (!failure || (may_be_absent && !failure->refused)) return;
    LockSite site{{}, {}, describe()};
    if (failure->refused) throw BackendRefused(std::move(site), failure->text);
    throw BackendUnavailable(std::move(site), failure->text);
  }

  Capabilities capabilities() const noexcept override {
    Capabilities offered;
    offered.fair = offered.read_write = offered.fenced = true;
    offered.pushes = offered.administration = true;
    // One server takes keys of any slot. A node of a cluster refuses those of several, and who
    // asked goes on one by one then.
    offered.one_step = Capabilities::OneStep::all;
    offered.in_order = connection_.keeps_order();
    return offered;
  }

  std::string describe() const override { return connection_.uri().describe(); }

  std::string warning() const override { return connection_.warning(); }

  void submit(std::span<Request* const> requests, Sink& sink) override {
    connection_.submit(requests, sink);
  }
  void drive(Parker& parker, Clock::time_point until) override { connection_.drive(parker, until); }
  void forget_parent() noexcept override { connection_.forget_parent(); }

 private:
  SharedConnection connection_;
};

}  // namespace

std::unique_ptr<Backend> make_redis_backend(std::string_view uri, const Options& options) {
  return std::make_unique<RedisBackend>(RedisUri::parse(uri), options, false);
}

std::unique_ptr<Backend> make_redis_member(std::string_view uri, const Options& options) {
  return std::make_unique<RedisBackend>(RedisUri::parse(uri), options, true);
}

}  // namespace latchkey::detail::redis
