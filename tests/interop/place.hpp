// Where C++ and Java meet: a server, or a cluster with one of the ways to wake waiters.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <latchkey/locks.hpp>

#include "interop/java_peer.hpp"
#include "support/redis_client.hpp"
#include "support/redis_cluster.hpp"

namespace latchkey::tests {

/// Of both sides.
inline constexpr std::chrono::milliseconds watchdog_period{2'000};

/// Behind "cluster": how both sides are told to publish.
enum class Where : std::uint8_t { server, cluster_auto, cluster_on, cluster_off };

/// Servers, and a Java process that uses them. Begins when a test first asks for it, and stays for
/// all tests; keys are the tests' own. All clusters are the same one.
class Place {
 public:
  static Place& at(Where where);
  static RedisCluster& cluster();

  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  virtual ~Place() = default;

  /// The side of C++, with a connection of its own.
  [[nodiscard]] Locks connect(Options options = {}) const;
  [[nodiscard]] JavaPeer& java() { return *java_; }
  /// Ends the Java process, and begins another.
  void renew_java() { java_.emplace(addresses_, watchdog_period, sharded_word_); }

  /// Names that begin with `name`, one on each master.
  [[nodiscard]] virtual std::vector<std::string> keys(const std::string& name) const = 0;
  [[nodiscard]] virtual RedisClient master_of(const std::string& key) const = 0;

  /// Connections that listen to the channels where those who wait for this lock are told.
  struct Listeners {
    std::size_t plain = 0, sharded = 0;
    [[nodiscard]] std::size_t all() const noexcept { return plain + sharded; }
  };
  [[nodiscard]] Listeners listeners(const std::string& key, LockType type) const;
  static Listeners listeners(RedisClient& node, const std::string& key, LockType type);

 protected:
  /// `sharded` is a word of JavaPeer's.
  Place(std::string uri, std::string addresses, std::string sharded);

 private:
  [[nodiscard]] virtual std::vector<RedisClient> nodes() const = 0;

  std::string uri_, addresses_, sharded_word_;
  ShardedPubSub sharded_;
  std::optional<JavaPeer> java_;
};

}  // namespace latchkey::tests
