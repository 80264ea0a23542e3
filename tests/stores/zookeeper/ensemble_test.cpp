// An ensemble of three servers, of which one is killed: the leader, and the one that a client is
// connected to, among them.
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fixture.hpp"

namespace latchkey::tests {
namespace {

class Ensemble {
 public:
  static constexpr int size = 3;

  Ensemble() {
    std::string members;
    for (int number = 1; number <= size; ++number) {
      members += "server." + std::to_string(number) +
                 "=127.0.0.1:" + std::to_string(free_zookeeper_port()) + ':' +
                 std::to_string(free_zookeeper_port()) + '\n';
    }
    for (int number = 1; number <= size; ++number) {
      servers_.push_back(std::make_unique<ZooKeeperServer>(number, members));
    }
    for (const auto& server : servers_) server->await();
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

}  // namespace
}  // namespace latchkey::tests
