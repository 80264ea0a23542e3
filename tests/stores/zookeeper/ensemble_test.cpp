// An ensemble of three servers, of which one is killed: the leader, and the one that a client is
// connected to, among them.
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "fixture.hpp"
#include "support/servers/fault_proxy.hpp"

namespace latchkey::tests {
namespace {

class Ensemble {
 public:
  static constexpr int size = 3;

  Ensemble() {
    for (int number = 1; number <= size; ++number) {
      quorum_ports_.push_back(free_zookeeper_port());
      election_ports_.push_back(free_zookeeper_port());
    }
    proxy_ = std::make_unique<FaultProxy>(quorum_ports_[1]);
    for (int number = 1; number <= size; ++number) {
      servers_.push_back(std::make_unique<ZooKeeperServer>(number, members(number)));
      if (number > 1) servers_[0]->await();  // the second one leads: its number is the higher one
    }
    for (const auto& server : servers_) server->await();
  }

  /// The third server and the leader hear nothing of each other any more.
  void cut_off_the_third() {
    proxy_->freeze(FaultProxy::Direction::to_server);
    proxy_->freeze(FaultProxy::Direction::to_client);
  }

  [[nodiscard]] std::string uri(const std::string& rest) const {
    std::string text = "zookeeper://";
    for (const auto& server : servers_) {
      if (server != servers_.front()) text += ',';
      text += server->address();
    }
    return text + rest;
  }
  [[nodiscard]] ZooKeeperServer& at(int index) {
    return *servers_[static_cast<std::size_t>(index)];
  }

 private:
  /// As the server with this number is told. The third one reaches the second through the proxy.
  [[nodiscard]] std::string members(int of) const {
    std::string text;
    for (int number = 1; number <= size; ++number) {
      const auto at = static_cast<std::size_t>(number - 1);
      const auto port = of == 3 && number == 2 ? proxy_->port() : quorum_ports_[at];
      text += "server." + std::to_string(number) + "=127.0.0.1:" + std::to_string(port) + ':' +
              std::to_string(election_ports_[at]) + '\n';
    }
    return text;
  }

  std::vector<std::uint16_t> quorum_ports_, election_ports_;
  std::unique_ptr<FaultProxy> proxy_;
  std::vector<std::unique_ptr<ZooKeeperServer>> servers_;
};

using ZooKeeperEnsemble = ZooKeeperTest;

TEST_F(ZooKeeperEnsemble, AHoldAndAWaitSurviveTheEndOfEachServer) {
  Ensemble ensemble;
  const std::string uri = ensemble.uri("/locks?session=20s");
  for (int victim = 0; victim < Ensemble::size; ++victim) {
    SCOPED_TRACE(victim);
    const Locks one = connect_zookeeper(uri, 20s), other = connect_zookeeper(uri, 20s);
    Hold hold = one.lock("key").acquire(10s);
    auto waiter = std::async(std::launch::async, [&] {
      std::optional<Hold> next;
      await("the lock", [&] {  // there is no leader for a moment
        next = other.lock("key").try_acquire(20s);
        return next ? "" : "not granted";
      });
      return next->release();
    });
    await("a waiter", [&] { return one.inspect("key").queue.size() == 1 ? "" : "nobody waits"; });
    ensemble.at(victim).kill();
    await("a renewal", [&] { return hold.extend(15s) || hold.lost() ? "" : "no answer"; });
    EXPECT_FALSE(hold.lost());
    await("the release", [&] { return hold.release() || hold.lost() ? "" : "unconfirmed"; });
    EXPECT_TRUE(waiter.get());
    EXPECT_TRUE(one.list("*").empty());
    ensemble.at(victim).start();
  }
}

// The follower answered the renewals, which were reads, for syncLimit ticks: 5 s here. The leader
// ended the session meanwhile, and the other client had the lock.
TEST_F(ZooKeeperEnsemble, AFollowerThatIsCutOffFromTheLeaderProlongsNoHold) {
  Ensemble ensemble;
  const Locks one = connect_zookeeper(ensemble.at(2).uri("/locks"), 1500ms);
  const Locks other = connect_zookeeper(ensemble.at(0).uri("/locks"), 1500ms);
  Hold hold = one.lock("key").acquire(10s);
  std::this_thread::sleep_for(1s);  // sleeps: some renewals
  auto next = std::async(std::launch::async, [&] {
    const Hold granted = other.lock("key").acquire(30s);
    return std::chrono::steady_clock::now();
  });
  await("a waiter", [&] { return other.inspect("key").queue.empty() ? "nobody waits" : ""; });
  EXPECT_FALSE(hold.lost());
  ensemble.cut_off_the_third();
  await("the loss", [&] { return hold.lost() ? "" : "held"; });
  const auto lost = std::chrono::steady_clock::now();
  EXPECT_GT(next.get(), lost);
}

}  // namespace
}  // namespace latchkey::tests
