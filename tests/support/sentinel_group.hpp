// Sentinels, and the servers that they watch.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/polling.hpp"
#include "support/redis_server.hpp"
#include "support/replicated.hpp"

namespace latchkey::tests {

struct SentinelGroupOptions {
  /// What the sentinels call the master.
  std::string name = "orders";
  std::size_t replicas = 2;
  std::size_t sentinels = 3;
  std::size_t quorum = 2;
  /// Of the servers, and of the sentinels; letters and digits.
  std::string password{};
  std::string sentinel_password{};
  /// So long a master may be silent.
  std::chrono::milliseconds down_after{500};
  /// So long one step of a failover may take. After one that failed (the sentinels' votes may be
  /// split) the next comes twice as long later.
  std::chrono::milliseconds failover_timeout{2000};
  /// Lines of redis.conf for each server.
  std::vector<std::string> config{};
};

/// A master, its replicas, and sentinels that replace it when it dies. When the constructor returns
/// all of them know each other. Sentinels ask and tell each other more often than usual
/// (SENTINEL DEBUG), that a test may see in a second what takes them ten.
///
/// Servers and sentinels may be killed, stopped, resumed and started by hand; restore() brings all
/// back. A former master that is back, or was replaced while it served, goes on as a master until
/// the sentinels make a replica of it 3 s later, or restore() or wait_until_ready() at once. All
/// indexes begin at 0. What is waited for too long is a std::runtime_error.
class SentinelGroup {
 public:
  explicit SentinelGroup(SentinelGroupOptions options = {});

  /// redis+sentinel://127.0.0.1:p1,127.0.0.1:p2,127.0.0.1:p3/orders, with the passwords.
  [[nodiscard]] std::string uri() const;

  /// In the order in which they were started; the first was the first master.
  [[nodiscard]] std::size_t size() const noexcept { return servers_.size(); }
  [[nodiscard]] RedisServer& server(std::size_t index) { return servers_.server(index); }
  [[nodiscard]] RedisServer& server_at(std::uint16_t port) { return server(index_at(port)); }
  [[nodiscard]] RedisServer& sentinel(std::size_t index) { return *sentinels_.at(index); }

  /// What more than half of all sentinels say; 0 where they do not agree.
  [[nodiscard]] std::uint16_t master_port();
  /// Its server. Throws where they do not agree.
  [[nodiscard]] RedisServer& master() { return server_at(master_port()); }

  /// Waits until all sentinels that serve name one master that is not at the port `before`, and it
  /// is a master in its own eyes. The other servers may not follow it yet.
  Election wait_for_election(std::uint16_t before);
  /// Has a sentinel make another server the master, while the old one still serves; and waits for
  /// the election.
  Election fail_over();
  /// SIGKILL to the master; and waits for the election.
  Election kill_master();
  /// Starts who was killed and wakes who was stopped; back as wait_until_ready().
  void restore();
  /// Waits until all sentinels that serve know each other, the master and all servers, and all
  /// replicas that serve follow the master, in sync.
  void wait_until_ready();

 private:
  [[nodiscard]] std::size_t index_at(std::uint16_t port);
  void start_sentinels();
  void hurry(RedisServer& sentinel, std::chrono::milliseconds greeting);
  [[nodiscard]] std::uint16_t master_port_of(RedisServer& sentinel);
  Election await_election(std::uint16_t before, const std::function<void()>& nudge);
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
