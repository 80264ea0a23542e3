// The servers that C++ and Java share: one server, or a cluster with one mode of sharded Pub/Sub.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <latchkey/locks.hpp>

#include "interop/java_peer.hpp"
#include "support/servers/redis_client.hpp"
#include "support/servers/redis_cluster.hpp"

namespace latchkey::tests {

/// The period of both watchdogs.
inline constexpr std::chrono::milliseconds watchdog_period{2'000};

/// A cluster has three kinds: both sides use sharded Pub/Sub if the server has it (auto), always
/// (on), or never (off).
enum class DeploymentKind : std::uint8_t { server, cluster_auto, cluster_on, cluster_off };

/// Servers, and a Java process that uses them. A deployment starts when a test first needs it, and
/// all later tests share it; each test has its own keys. All kinds of cluster share one cluster.
class Deployment {
 public:
  static Deployment& of(DeploymentKind kind);
  static RedisCluster& cluster();

  Deployment(const Deployment&) = delete;
  Deployment& operator=(const Deployment&) = delete;
  virtual ~Deployment() = default;

  /// Connects the C++ side. Each call makes a new connection.
  [[nodiscard]] Locks connect(Options options = {}) const;
  [[nodiscard]] JavaPeer& java() { return *java_; }
  /// The `uris` for a JavaPeer.
  [[nodiscard]] const std::string& addresses() const noexcept { return addresses_; }
  /// Replaces the Java process by a new one.
  void restart_java() { java_.emplace(addresses_, watchdog_period, sharded_mode_); }

  /// Keys that begin with `name`, one on each master.
  [[nodiscard]] virtual std::vector<std::string> keys(const std::string& name) const = 0;
  [[nodiscard]] virtual RedisClient master_of(const std::string& key) const = 0;

  /// A client of each node.
  [[nodiscard]] std::vector<RedisClient> clients() const { return nodes(); }

  /// How many connections subscribe to the channels that notify the waiters of a lock.
  struct Listeners {
    std::size_t plain = 0, sharded = 0;
    [[nodiscard]] std::size_t all() const noexcept { return plain + sharded; }
  };
  [[nodiscard]] Listeners listeners(const std::string& key, LockType type) const;
  static Listeners listeners(RedisClient& node, const std::string& key, LockType type);

 protected:
  /// `sharded` is the mode that JavaPeer takes.
  Deployment(const std::string& uri, std::string addresses, std::string sharded);

 private:
  [[nodiscard]] virtual std::vector<RedisClient> nodes() const = 0;

  std::string uri_, addresses_, sharded_mode_;
  std::optional<JavaPeer> java_;
};

}  // namespace latchkey::tests
