// Sentinels and the servers that they monitor.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/polling.hpp"
#include "support/servers/redis_server.hpp"
#include "support/servers/replicated.hpp"

namespace latchkey::tests {

struct SentinelGroupOptions {
  /// The name of the master in the configuration of the sentinels.
  std::string name = "orders";
  std::size_t replicas = 2;
  std::size_t sentinels = 3;
  std::size_t quorum = 2;
  /// The passwords of the servers and of the sentinels: letters and digits.
  std::string password{};
  std::string sentinel_password{};
  /// How long a master may be silent before a sentinel regards it as down.
  std::chrono::milliseconds down_after{500};
  /// How long one step of a failover may take. After a failed one, for instance a split vote, the
  /// next starts after twice this time.
  std::chrono::milliseconds failover_timeout{2000};
  /// Lines of redis.conf for each server.
  std::vector<std::string> config{};
};

/// A master, its replicas, and sentinels that replace it when it dies. When the constructor returns
/// all of them know each other. Sentinels exchange messages more often than usual (SENTINEL DEBUG),
/// so that a failover takes one second instead of ten.
///
/// A test may kill, stop, resume and start servers and sentinels itself; restore() brings all back.
/// A former master that has returned, or was replaced while it served, remains a master until the
/// sentinels make it a replica after 3 s, unless restore() or wait_until_ready() does so at once.
/// Indexes begin at 0. Every wait throws std::runtime_error at its limit.
class SentinelGroup {
 public:
  explicit SentinelGroup(SentinelGroupOptions options = {});

  /// redis+sentinel://127.0.0.1:p1,127.0.0.1:p2,127.0.0.1:p3/orders, with the passwords.
  [[nodiscard]] std::string uri() const;

  /// Servers are numbered in the order of their start. Server 0 was the first master.
  [[nodiscard]] std::size_t size() const noexcept { return servers_.size(); }
  [[nodiscard]] RedisServer& server(std::size_t index) { return servers_.server(index); }
  [[nodiscard]] RedisServer& server_at(std::uint16_t port) { return server(index_at(port)); }
  [[nodiscard]] RedisServer& sentinel(std::size_t index) { return *sentinels_.at(index); }

  /// The port that more than half of all sentinels report; 0 if they do not agree.
  [[nodiscard]] std::uint16_t master_port();
  /// The server at master_port(). Throws if the sentinels do not agree.
  [[nodiscard]] RedisServer& master() { return server_at(master_port()); }

  /// Waits until all sentinels that serve report the same master, at another port than `before`,
  /// and that server reports that it is a master. The other servers may not follow it yet.
  Election wait_for_election(std::uint16_t before);
  /// Makes a sentinel promote another server while the old master still serves, and waits for the
  /// election.
  Election fail_over();
  /// Kills the master and waits for the election.
  Election kill_master();
  /// Starts killed servers and resumes stopped ones, and calls wait_until_ready().
  void restore();
  /// Waits until all sentinels that serve know each other, the master and all servers, and all
  /// replicas that serve follow the master and are in sync.
  void wait_until_ready();

 private:
  [[nodiscard]] std::size_t index_at(std::uint16_t port);
  void start_sentinels();
  void shorten_periods(RedisServer& sentinel, std::chrono::milliseconds publish_period);
  [[nodiscard]] std::uint16_t master_port_of(RedisServer& sentinel);
  Election await_election(std::uint16_t before, const std::function<void()>& retry);
  void demote_all_but(std::uint16_t master);
  [[nodiscard]] std::string for_each_sentinel(
      const std::function<std::string(RedisServer&)>& missing_in);
  [[nodiscard]] std::string unknown_to(RedisServer& sentinel, std::uint16_t master);
  [[nodiscard]] std::string unknown_server_to(RedisServer& sentinel, std::uint16_t master);

  SentinelGroupOptions options_;
  Replicated servers_;
  std::vector<std::unique_ptr<RedisServer>> sentinels_;
};

}  // namespace latchkey::tests
