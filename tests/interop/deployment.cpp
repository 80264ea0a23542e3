// Starts the servers that C++ and Java share, and queries them about keys and channels.
#include "interop/deployment.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "support/servers/redis_server.hpp"

namespace latchkey::tests {
namespace {

/// The option of a URI that is Redisson's mode `ON`, `OFF` or `AUTO`; empty for no mode.
std::string sharded_option(const std::string& mode) {
  if (mode.empty()) return {};
  return "?sharded_pubsub=" + std::string(mode == "ON" ? "on" : mode == "OFF" ? "off" : "auto");
}

class ServerDeployment final : public Deployment {
 public:
  explicit ServerDeployment(std::unique_ptr<RedisServer> server = std::make_unique<RedisServer>())
      : Deployment(server->tcp_uri(), server->tcp_uri(), ""), server_(std::move(server)) {}

  std::vector<std::string> keys(const std::string& name) const override { return {name}; }
  RedisClient master_of(const std::string& /*key*/) const override { return server_->client(); }

 private:
  std::vector<RedisClient> nodes() const override {
    std::vector<RedisClient> all;
    all.push_back(server_->client());
    return all;
  }

  std::unique_ptr<RedisServer> server_;
};

class ClusterDeployment final : public Deployment {
 public:
  explicit ClusterDeployment(const std::string& sharded)
      : Deployment(cluster().uri(), addresses(), sharded) {}

  std::vector<std::string> keys(const std::string& name) const override {
    std::vector<std::string> names;
    for (const std::size_t master : cluster().masters()) {
      int number = 0;
      while (owner_of(name + '.' + std::to_string(number)) != master) ++number;
      names.push_back(name + '.' + std::to_string(number));
    }
    return names;
  }
  RedisClient master_of(const std::string& key) const override {
    return cluster().node(owner_of(key)).client();
  }

 private:
  static std::size_t owner_of(const std::string& key) {
    return cluster().owner_of(cluster().slot_of(key));
  }
  static std::string addresses() {
    std::string all;
    for (const std::size_t index : cluster().serving()) {
      all += (all.empty() ? "" : ",") + cluster().node(index).tcp_uri();
    }
    return all;
  }
  std::vector<RedisClient> nodes() const override {
    std::vector<RedisClient> all;
    for (const std::size_t index : cluster().serving()) {
      all.push_back(cluster().node(index).client());
    }
    return all;
  }
};

std::unique_ptr<Deployment> make(DeploymentKind kind) {
  switch (kind) {
    case DeploymentKind::server: return std::make_unique<ServerDeployment>();
    case DeploymentKind::cluster_auto: return std::make_unique<ClusterDeployment>("AUTO");
    case DeploymentKind::cluster_on: return std::make_unique<ClusterDeployment>("ON");
    case DeploymentKind::cluster_off: return std::make_unique<ClusterDeployment>("OFF");
  }
  throw std::logic_error("unknown kind of deployment");
}

/// All deployments that were started. gtest ends them before main returns.
class Deployments : public ::testing::Environment {
 public:
  void TearDown() override {
    all.clear();
    cluster.reset();
  }
  inline static std::optional<RedisCluster> cluster;
  inline static std::map<DeploymentKind, std::unique_ptr<Deployment>> all;
};
const auto* const deployments = ::testing::AddGlobalTestEnvironment(new Deployments);

/// The pattern of the channels that notify waiters. Each waiter of a FAIR lock has its own channel.
std::string channels_of(const std::string& key, LockType type) {
  const std::string tag = key.find('{') == std::string::npos ? '{' + key + '}' : key;
  if (type == LockType::READ || type == LockType::WRITE) return "redisson_rwlock:" + tag;
  if (type == LockType::PERMIT) return "redisson_sc:" + tag;
  return "redisson_lock__channel:" + tag + (type == LockType::FAIR ? ":*" : "");
}

/// How many connections subscribe to the channels that match `pattern`.
std::size_t subscribers(RedisClient& node, const char* names, const char* numbers,
                        const std::string& pattern) {
  std::size_t sum = 0;
  for (const std::string& channel : node({"PUBSUB", names, pattern}).list()) {
    sum += std::stoul(node({"PUBSUB", numbers, channel}).list().at(1));
  }
  return sum;
}

}  // namespace

Deployment::Deployment(const std::string& uri, std::string addresses, std::string sharded)
    : uri_(uri + sharded_option(sharded)),
      addresses_(std::move(addresses)),
      sharded_mode_(std::move(sharded)) {
  restart_java();
}

Deployment& Deployment::of(DeploymentKind kind) {
  std::unique_ptr<Deployment>& deployment = Deployments::all[kind];
  if (!deployment) deployment = make(kind);
  return *deployment;
}

RedisCluster& Deployment::cluster() {
  if (!Deployments::cluster) Deployments::cluster.emplace();
  return *Deployments::cluster;
}

Locks Deployment::connect(Options options) const {
  options.watchdog = watchdog_period;
  return Locks::connect(uri_, std::move(options));
}

Deployment::Listeners Deployment::listeners(RedisClient& node, const std::string& key,
                                            LockType type) {
  const std::string pattern = channels_of(key, type);
  return {.plain = subscribers(node, "CHANNELS", "NUMSUB", pattern),
          .sharded = subscribers(node, "SHARDCHANNELS", "SHARDNUMSUB", pattern)};
}

Deployment::Listeners Deployment::listeners(const std::string& key, LockType type) const {
  Listeners sum;
  for (RedisClient& node : nodes()) {
    const Listeners here = listeners(node, key, type);
    sum.plain += here.plain;
    sum.sharded += here.sharded;
  }
  return sum;
}

}  // namespace latchkey::tests
