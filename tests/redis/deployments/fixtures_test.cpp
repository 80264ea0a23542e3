// Tests the tests' own deployments: they fail over, heal and grow.
#include <gtest/gtest.h>

#include <chrono>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>

#include "support/servers/redis_cluster.hpp"
#include "support/servers/replicated.hpp"
#include "support/servers/replication.hpp"
#include "support/servers/sentinel_group.hpp"

namespace latchkey::tests {
namespace {

std::string ask(const RedisServer& server, std::initializer_list<std::string_view> words) {
  return server.client()(words).text();
}

TEST(RedisReplicatedFixture, TheOtherServersFollowThePromotedOne) {
  Replicated servers({.replicas = 2, .password = "secret"});
  ask(servers.master(), {"SET", "k", "v"});
  servers.wait_until_synced();
  EXPECT_EQ(ask(servers.replica(1), {"GET", "k"}), "v");
  RedisServer& first = servers.master();
  servers.promote(1);
  EXPECT_EQ(&servers.master(), &servers.server(2));
  EXPECT_EQ(ask(servers.master(), {"SET", "k", "w"}), "OK");
  servers.wait_until_synced();
  EXPECT_EQ(ask(first, {"GET", "k"}), "w");
  EXPECT_TRUE(ask(first, {"SET", "k", "x"}).starts_with("READONLY"));
}

TEST(RedisReplicatedFixture, ADeadMasterComesBackAsAReplica) {
  Replicated servers;
  servers.master().kill();
  servers.promote(0);
  EXPECT_EQ(ask(servers.master(), {"SET", "k", "v"}), "OK");
  servers.restore();
  EXPECT_EQ(ask(servers.server(0), {"GET", "k"}), "v");
  EXPECT_FALSE(is_master(servers.server(0)));
}

TEST(RedisSentinelFixture, SentinelsAgreeOnAnotherMasterWhenOneDies) {
  SentinelGroup group;
  EXPECT_EQ(group.master_port(), group.server(0).port());
  ask(group.master(), {"SET", "k", "v"});
  const auto began = std::chrono::steady_clock::now();
  const Election election = group.kill_master();
  EXPECT_GT(election.seen, began);
  EXPECT_NE(election.index, 0U);
  EXPECT_EQ(group.master_port(), group.server(election.index).port());
  EXPECT_EQ(ask(group.master(), {"GET", "k"}), "v");
  group.restore();
  EXPECT_EQ(group.master_port(), group.server(election.index).port());
  EXPECT_FALSE(is_master(group.server(0)));
  EXPECT_EQ(ask(group.server(0), {"GET", "k"}), "v");
}

TEST(RedisSentinelFixture, WithPasswordsSentinelsFailOverWhenAsked) {
  SentinelGroup group({.password = "secret", .sentinel_password = "hidden"});
  const std::string port = std::to_string(group.sentinel(0).port());
  EXPECT_TRUE(group.uri().starts_with("redis+sentinel://:secret@127.0.0.1:" + port + ','));
  EXPECT_TRUE(group.uri().ends_with("/orders?sentinel_password=hidden"));
  const RedisServer& first = group.master();
  const Election election = group.fail_over();
  EXPECT_TRUE(is_master(group.server(election.index)));
  group.wait_until_ready();
  EXPECT_FALSE(is_master(first));
}

TEST(RedisClusterFixture, ASlotMovesWithItsKeysAndNodesComeAndGo) {
  RedisCluster cluster({.replicas = 0, .password = "secret"});
  const std::size_t slot = cluster.slot_of("k");
  const std::size_t from = cluster.owner_of(slot);
  ask(cluster.node(from), {"SET", "k", "v"});

  const std::size_t to = cluster.add_node();
  const std::string there =
      std::to_string(slot) + " 127.0.0.1:" + std::to_string(cluster.node(to).port());
  cluster.begin_migration(slot, from, to);
  EXPECT_EQ(ask(cluster.node(from), {"GET", "k"}), "v") << "what is there is served there";
  EXPECT_EQ(ask(cluster.node(from), {"GET", "{k}other"}), "ASK " + there);
  EXPECT_EQ(cluster.move_keys(slot, from, to), 1U);
  EXPECT_EQ(ask(cluster.node(from), {"GET", "k"}), "ASK " + there);
  cluster.end_migration(slot, from, to);
  EXPECT_EQ(ask(cluster.node(from), {"GET", "k"}), "MOVED " + there);
  EXPECT_EQ(ask(cluster.node(to), {"GET", "k"}), "v");
  EXPECT_EQ(cluster.owner_of(slot), to);

  cluster.remove_node(to);
  const std::size_t new_owner = cluster.owner_of(slot);
  EXPECT_EQ(ask(cluster.node(new_owner), {"GET", "k"}), "v");
  EXPECT_EQ(cluster.view(new_owner).members().size(), 3U);
  EXPECT_THROW(static_cast<void>(cluster.node(to)), std::runtime_error);
}

TEST(RedisClusterFixture, AReplicaTakesOverWhenAskedAndWhenItsMasterDies) {
  RedisCluster cluster;
  const std::size_t slot = cluster.slot_of("k");
  const std::size_t master = cluster.owner_of(slot);
  const std::size_t replica = cluster.replicas_of(master).at(0);
  ask(cluster.node(master), {"SET", "k", "v"});
  EXPECT_EQ(cluster.fail_over(replica).index, replica);
  EXPECT_EQ(cluster.owner_of(slot), replica);
  EXPECT_TRUE(ask(cluster.node(master), {"GET", "k"}).starts_with("MOVED "));

  const auto began = std::chrono::steady_clock::now();
  const Election election = cluster.kill_master(replica);
  EXPECT_GT(election.seen, began);
  EXPECT_EQ(election.index, master);
  EXPECT_EQ(ask(cluster.node(master), {"GET", "k"}), "v");
  cluster.restore(replica);
  EXPECT_EQ(cluster.replicas_of(master).at(0), replica);
}

}  // namespace
}  // namespace latchkey::tests
