// Where C++ and Java meet: which servers are started, and what they say of keys and channels.
#include "interop/place.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "support/redis_server.hpp"

namespace latchkey::tests {
namespace {

ShardedPubSub sharded_of(const std::string& word) {
  if (word == "ON") return ShardedPubSub::ON;
  return word == "OFF" ? ShardedPubSub::OFF : ShardedPubSub::AUTO;
}

class ServerPlace final : public Place {
 public:
  explicit ServerPlace(std::unique_ptr<RedisServer> server = std::make_unique<RedisServer>())
      : Place(server->tcp_uri(), server->tcp_uri(), ""), server_(std::move(server)) {}

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

class ClusterPlace final : public Place {
 public:
  explicit ClusterPlace(const std::string& sharded)
      : Place(cluster().uri(), addresses(), sharded) {}

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

std::unique_ptr<Place> make(Where where) {
  switch (where) {
    case Where::server: return std::make_unique<ServerPlace>();
    case Where::cluster_auto: return std::make_unique<ClusterPlace>("AUTO");
    case Where::cluster_on: return std::make_unique<ClusterPlace>("ON");
    case Where::cluster_off: return std::make_unique<ClusterPlace>("OFF");
  }
  throw std::logic_error("no such place");
}

/// Ended before main is.
class Places : public ::testing::Environment {
 public:
  void TearDown() override {
    all.clear();
    cluster.reset();
  }
  inline static std::optional<RedisCluster> cluster;
  inline static std::map<Where, std::unique_ptr<Place>> all;
};
const auto* const places = ::testing::AddGlobalTestEnvironment(new Places);

/// A pattern: of a FAIR lock, each who waits has one.
std::string channels_of(const std::string& key, LockType type) {
  const std::string tag = key.find('{') == std::string::npos ? '{' + key + '}' : key;
  if (type == LockType::READ || type == LockType::WRITE) return "redisson_rwlock:" + tag;
  return "redisson_lock__channel:" + tag + (type == LockType::FAIR ? ":*" : "");
}

/// How many connections listen to channels of which `pattern` is true.
std::size_t count(RedisClient& node, const char* names, const char* numbers,
                  const std::string& pattern) {
  std::size_t sum = 0;
  for (const std::string& channel : node({"PUBSUB", names, pattern}).list()) {
    sum += std::stoul(node({"PUBSUB", numbers, channel}).list().at(1));
  }
  return sum;
}

}  // namespace

Place::Place(std::string uri, std::string addresses, std::string sharded)
    : uri_(std::move(uri)),
      addresses_(std::move(addresses)),
      sharded_word_(std::move(sharded)),
      sharded_(sharded_of(sharded_word_)) {
  renew_java();
}

Place& Place::at(Where where) {
  std::unique_ptr<Place>& place = Places::all[where];
  if (!place) place = make(where);
  return *place;
}

RedisCluster& Place::cluster() {
  if (!Places::cluster) Places::cluster.emplace();
  return *Places::cluster;
}

Locks Place::connect(Options options) const {
  options.watchdog = watchdog_period;
  options.sharded = sharded_;
  return Locks::connect(uri_, std::move(options));
}

Place::Listeners Place::listeners(RedisClient& node, const std::string& key, LockType type) {
  const std::string pattern = channels_of(key, type);
  return {.plain = count(node, "CHANNELS", "NUMSUB", pattern),
          .sharded = count(node, "SHARDCHANNELS", "SHARDNUMSUB", pattern)};
}

Place::Listeners Place::listeners(const std::string& key, LockType type) const {
  Listeners sum;
  for (RedisClient& node : nodes()) {
    const Listeners here = listeners(node, key, type);
    sum.plain += here.plain;
    sum.sharded += here.sharded;
  }
  return sum;
}

}  // namespace latchkey::tests
