// A master and its replicas.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "support/servers/redis_server.hpp"

namespace latchkey::tests {

struct ReplicatedOptions {
  std::size_t replicas = 1;
  /// The password of all servers.
  std::string password{};
  /// Lines of redis.conf for each server.
  std::vector<std::string> config{};
};

/// A master and its replicas, which are in sync when the constructor returns. There are no
/// sentinels: the test promotes replicas itself.
class Replicated {
 public:
  explicit Replicated(ReplicatedOptions options = {});

  [[nodiscard]] std::size_t size() const noexcept { return servers_.size(); }
  /// Servers are numbered in the order of their start, the first master first.
  [[nodiscard]] RedisServer& server(std::size_t index) { return *servers_.at(index); }
  [[nodiscard]] RedisServer& master() { return server(master_); }
  /// The servers except the current master, in the same order.
  [[nodiscard]] RedisServer& replica(std::size_t index);

  /// Promotes replica(index) and makes all other running servers follow it. Does not wait until
  /// they do. Data that the replica has not received is lost.
  void promote(std::size_t index);
  /// Starts killed servers and resumes stopped ones. Returns when all follow master() and are in
  /// sync.
  void restore();
  /// Waits until each replica that serves follows the master and has all data that the master has
  /// now.
  void wait_until_synced();

 private:
  [[nodiscard]] std::size_t index_of_replica(std::size_t index) const;
  void follow_master();

  std::vector<std::unique_ptr<RedisServer>> servers_;
  std::size_t master_ = 0;
};

}  // namespace latchkey::tests
