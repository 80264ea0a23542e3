// Three members of one cluster, of which one is killed: the leader, and the one that is connected
// to, among them.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <future>
#include <memory>
#include <string>

#include <latchkey/hold.hpp>
#include <latchkey/locks.hpp>

#include "etcd_fixture.hpp"
#include "support/polling.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

class EtcdCluster {
 public:
  static constexpr std::size_t size = 3;

  EtcdCluster() {
    for (Member& member : members_) {
      member.client = address();
      member.peer = address();
      if (!all_.empty()) all_ += ',';
      all_ += name(member) + "=http://" + member.peer;
    }
    for (std::size_t at = 0; at < size; ++at) start(at);
  }
  EtcdCluster(const EtcdCluster&) = delete;
  EtcdCluster& operator=(const EtcdCluster&) = delete;
  ~EtcdCluster() {
    for (Member& member : members_) member.process.reset();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  /// The member that a client connects to first is `first`.
  [[nodiscard]] std::string uri(std::size_t first) const {
    std::string text = "etcd://";
    for (std::size_t at = 0; at < size; ++at) {
      text += (at > 0 ? "," : "") + members_[(first + at) % size].client;
    }
    return text + "/?session=20s";
  }
  void kill(std::size_t at) {
    members_[at].process->signal(SIGKILL);
    members_[at].process->wait();
  }
  void start(std::size_t at) {
    Member& member = members_[at];
    const std::string client = "http://" + member.client, peer = "http://" + member.peer;
    member.process =
        std::make_unique<Process>(std::vector<std::string>{"etcd",
                                                           "--name",
                                                           name(member),
                                                           "--data-dir",
                                                           folder_ / name(member),
                                                           "--listen-client-urls",
                                                           client,
                                                           "--advertise-client-urls",
                                                           client,
                                                           "--listen-peer-urls",
                                                           peer,
                                                           "--initial-advertise-peer-urls",
                                                           peer,
                                                           "--initial-cluster",
                                                           all_,
                                                           "--log-level",
                                                           "error",
                                                           "--heartbeat-interval",
                                                           "50",
                                                           "--election-timeout",
                                                           "500"},
                                  folder_ / (name(member) + ".log"));
  }
  /// Each member serves.
  void await() const {
    for (std::size_t at = 0; at < size; ++at) {
      EXPECT_TRUE(eventually([&] {
        return etcd_refusal("etcd://" + members_[at].client) == "accepted";
      })) << "member "
          << at;
    }
  }

 private:
  struct Member {
    std::string client, peer;  ///< addresses
    std::unique_ptr<Process> process;
  };

  static std::string address() { return "127.0.0.1:" + std::to_string(free_etcd_port()); }
  [[nodiscard]] std::string name(const Member& member) const {
    return "member" + std::to_string(&member - members_.data());
  }

  const std::filesystem::path folder_ = fresh_etcd_folder();
  std::array<Member, size> members_;
  std::string all_;
};

TEST(EtcdClusterTest, AHoldAndAWaitSurviveTheEndOfEachMember) {
  EtcdCluster cluster;
  cluster.await();
  Options options;
  options.command_timeout = 1s;
  options.watchdog = 10s;
  options.unavailable_after = 20s;
  for (std::size_t victim = 0; victim < EtcdCluster::size; ++victim) {
    SCOPED_TRACE(victim);
    Locks one = etcd_locks(cluster.uri(0), options);
    Locks other = etcd_locks(cluster.uri(1), options);
    Hold hold = one.lock("key").acquire(5s);
    auto waiter =
        std::async(std::launch::async, [&] { return other.lock("key").acquire(30s).release(); });
    EXPECT_TRUE(eventually([&] { return one.inspect("key").queue.size() == 1; }));
    cluster.kill(victim);
    await("a renewal", [&] {  // there is no leader for a moment
      return hold.extend(10s) || hold.lost() ? "" : "no answer";
    });
    EXPECT_FALSE(hold.lost());
    EXPECT_TRUE(hold.release());
    EXPECT_TRUE(waiter.get());
    EXPECT_TRUE(other.list("*").empty());
    cluster.start(victim);
    cluster.await();
  }
}

}  // namespace
}  // namespace latchkey::tests
