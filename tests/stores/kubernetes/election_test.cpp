// Leaders on Leases: what they write, and how they lose and take over.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/leader.hpp>

#include "fixture.hpp"

namespace latchkey::tests {
namespace {

/// The watchdog renews every second.
Options quick() { return {.watchdog = 3s, .command_timeout = 1s}; }

void wait_for_stop(const std::stop_token& stop, std::uint64_t) {
  while (!stop.stop_requested()) {
    // sleeps: a callback that works until it is told to stop
    std::this_thread::sleep_for(5ms);
  }
}

class KubernetesElection : public ::testing::Test {
 protected:
  [[nodiscard]] std::string holder() {
    const ApiServer::Json lease = server_.lease("billing");
    return lease.is_null() ? "no Lease" : std::string(lease["spec"]["holderIdentity"]);
  }
  ApiServer server_;
};

TEST_F(KubernetesElection, ALeaderWritesWhatItsNeighboursRead) {
  const Locks locks = kubernetes_locks(server_.uri(), quick());
  {
    const Leader leader = locks.leader("billing", wait_for_stop);
    ASSERT_TRUE(eventually([&] { return leader.is_leader(); }));
    const ApiServer::Json first = server_.lease("billing");
    EXPECT_EQ(first["spec"]["leaseDurationSeconds"], 3);
    EXPECT_EQ(first["spec"]["leaseTransitions"], leader.term());
    EXPECT_TRUE(HoldId::parse(std::string(first["spec"]["holderIdentity"])));
    EXPECT_TRUE(eventually([&] { return server_.lease("billing") != first; })) << "it renews";
    const ApiServer::Json renewed = server_.lease("billing");
    EXPECT_EQ(renewed["spec"]["acquireTime"], first["spec"]["acquireTime"]);
    EXPECT_NE(renewed["spec"]["renewTime"], first["spec"]["renewTime"]);
    EXPECT_EQ(renewed["spec"]["leaseTransitions"], first["spec"]["leaseTransitions"]);
  }
  EXPECT_EQ(holder(), "");
  EXPECT_EQ(server_.lease("billing")["spec"]["leaseDurationSeconds"], 1);
}

TEST_F(KubernetesElection, TheNextLeaderFollowsARelease) {
  const Locks one = kubernetes_locks(server_.uri(), quick());
  const Locks other = kubernetes_locks(server_.uri(), quick());
  std::unique_ptr<Leader> first(new Leader(one.leader("billing", wait_for_stop)));
  ASSERT_TRUE(eventually([&] { return first->is_leader(); }));
  const Leader second = other.leader("billing", wait_for_stop);
  const std::uint64_t term = first->term();
  EXPECT_FALSE(second.is_leader());
  first.reset();
  const auto released = std::chrono::steady_clock::now();
  ASSERT_TRUE(eventually([&] { return second.is_leader(); }));
  EXPECT_LT(std::chrono::steady_clock::now() - released, 2s) << "it did not wait for the lease";
  EXPECT_GT(second.term(), term);
}

TEST_F(KubernetesElection, ADeadLeadersLeaseIsTakenAfterItsDuration) {
  const Locks locks = kubernetes_locks(server_.uri(), quick());
  server_.write("billing", spec_of("you", 2, 40));
  const auto written = std::chrono::steady_clock::now();
  const Leader leader = locks.leader("billing", wait_for_stop);
  ASSERT_TRUE(eventually([&] { return leader.is_leader(); }));
  EXPECT_GE(std::chrono::steady_clock::now() - written, 2s - 50ms);
  EXPECT_GT(leader.term(), 40U);
  EXPECT_EQ(server_.lease("billing")["metadata"]["annotations"]["team"], "shop");
}

TEST_F(KubernetesElection, AForeignLeaderThatRenewsKeepsItsLease) {
  const Locks locks = kubernetes_locks(server_.uri(), quick());
  server_.write("billing", spec_of("you", 2));
  const Leader leader = locks.leader("billing", wait_for_stop);
  for (int each = 0; each < 6; ++each) {
    // sleeps: the other leader renews every 700 ms
    std::this_thread::sleep_for(700ms);
    server_.write("billing", spec_of("you", 2));
    ASSERT_FALSE(leader.is_leader());
  }
  EXPECT_EQ(holder(), "you");
}

TEST_F(KubernetesElection, ALeaderWhoseLeaseIsTakenStopsAtOnce) {
  const Locks locks = kubernetes_locks(server_.uri(), {.watchdog = 60s});
  std::atomic<bool> stopped{false};
  const Leader leader =
      locks.leader("billing", [&](const std::stop_token& stop, std::uint64_t term) {
        wait_for_stop(stop, term);
        stopped = true;
      });
  ASSERT_TRUE(eventually([&] { return leader.is_leader(); }));
  // sleeps: a hold is watched once it is older than half a second
  std::this_thread::sleep_for(1s);
  server_.write("billing", spec_of("you", 60));
  EXPECT_TRUE(eventually([&] { return stopped.load(); })) << "the next renewal is 20 s away";
  EXPECT_FALSE(leader.is_leader());
}

TEST_F(KubernetesElection, ALeaderSurvivesAShortOutageAndNotALongOne) {
  const Locks locks = kubernetes_locks(server_.uri(), quick());
  const Leader leader = locks.leader("billing", wait_for_stop);
  ASSERT_TRUE(eventually([&] { return leader.is_leader(); }));
  const std::uint64_t term = leader.term();
  server_.go_down();
  server_.come_back();
  const ApiServer::Json before = server_.lease("billing");
  EXPECT_TRUE(eventually([&] { return server_.lease("billing") != before; })) << "it renews again";
  EXPECT_TRUE(leader.is_leader());
  EXPECT_EQ(leader.term(), term);
  server_.go_down();
  EXPECT_TRUE(eventually([&] { return !leader.is_leader(); })) << "its deadline has passed";
  server_.come_back();
  EXPECT_TRUE(eventually([&] { return leader.is_leader(); }));
  EXPECT_GT(leader.term(), term);
}

// Several candidates, and a foreign one that takes part: never do two of them lead.
TEST_F(KubernetesElection, OfManyCandidatesOneLeads) {
  std::atomic<int> leading{0}, elections{0};
  std::atomic<bool> two{false};
  const auto lead = [&](const std::stop_token& stop, std::uint64_t) {
    if (++leading > 1) two = true;
    ++elections;
    for (int each = 0; each < 20 && !stop.stop_requested(); ++each) {
      // sleeps: a term lasts a moment
      std::this_thread::sleep_for(5ms);
    }
    --leading;
  };
  std::vector<std::unique_ptr<Locks>> processes;
  std::vector<std::unique_ptr<Leader>> leaders;
  for (int each = 0; each < 4; ++each) {
    processes.push_back(std::make_unique<Locks>(kubernetes_locks(server_.uri(), quick())));
    leaders.emplace_back(new Leader(processes.back()->leader("billing", lead, {.pause = 50ms})));
  }
  EXPECT_TRUE(eventually([&] { return elections >= 12; })) << elections;
  leaders.clear();
  EXPECT_FALSE(two);
  EXPECT_GE(server_.lease("billing")["spec"]["leaseTransitions"], 12);
}

TEST_F(KubernetesElection, OtherLockTypesAreRefused) {
  const Locks locks = kubernetes_locks(server_.uri());
  for (const LockType type : {LockType::FAIR, LockType::READ, LockType::WRITE}) {
    EXPECT_THROW(static_cast<void>(locks.lock("billing", type)), std::invalid_argument);
  }
  EXPECT_THROW(static_cast<void>(locks.lock("billing").try_acquire(0s, 500ms)),
               std::invalid_argument);
}

TEST_F(KubernetesElection, AdministratorsSeeTheLeasesOfTheNamespace) {
  const Locks locks = kubernetes_locks(server_.uri());
  const Hold hold = locks.lock("leader:billing", LockType::FENCED).acquire(1s);
  server_.write("free", spec_of("", 1));
  server_.write("dead", spec_of("you", 15));
  EXPECT_EQ(locks.list("*"), std::vector<std::string>{"leader:billing"})
      << "the renewTime of the other one is of another day";
  EXPECT_EQ(
      server_.lease("leaderx--3abilling")["metadata"]["labels"]["app.kubernetes.io/managed-by"],
      "latchkey");
  const LockInfo info = locks.inspect("leader:billing");
  EXPECT_TRUE(info.locked);
  EXPECT_EQ(info.fencing_token, hold.fence()->token);
  ASSERT_EQ(info.holders.size(), 1U);
  ASSERT_TRUE(info.holders[0].left);
  EXPECT_GT(*info.holders[0].left, 20s);
  EXPECT_TRUE(locks.force_release("leader:billing"));
  EXPECT_FALSE(locks.inspect("leader:billing").locked);
  EXPECT_FALSE(locks.force_release("leader:billing"));
}

}  // namespace
}  // namespace latchkey::tests
