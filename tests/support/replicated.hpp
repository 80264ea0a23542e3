// A master and its replicas.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "support/redis_server.hpp"

namespace latchkey::tests {

struct ReplicatedOptions {
  std::size_t replicas = 1;
  /// Of all servers.
  std::string password{};
  /// Lines of redis.conf for each of them.
  std::vector<std::string> config{};
};

/// Servers of which one is the master and the others follow it; in sync when the constructor
/// returns. Nobody watches them: who dies is replaced when the test says so.
class Replicated {
 public:
  explicit Replicated(ReplicatedOptions options = {});

  [[nodiscard]] std::size_t size() const noexcept { return servers_.size(); }
  /// In the order in which they were started, the first master before the others.
  [[nodiscard]] RedisServer& server(std::size_t index) { return *servers_.at(index); }
  [[nodiscard]] RedisServer& master() { return server(master_); }
  /// The servers without the master, in the same order.
  [[nodiscard]] RedisServer& replica(std::size_t index);

  /// Makes replica(index) the master; all others that serve are told to follow it. Does not wait
  /// until they do, and what the replica had not got yet is lost.
  void promote(std::size_t index);
  /// Starts who was killed and wakes who was stopped; all follow master() then, in sync.
  void restore();
  /// Waits until each replica that serves follows the master and has all that it has now.
  void wait_until_synced();

 private:
  [[nodiscard]] std::size_t index_of_replica(std::size_t index) const;
  void follow_master();

  std::vector<std::unique_ptr<RedisServer>> servers_;
  std::size_t master_ = 0;
};

}  // namespace latchkey::tests
