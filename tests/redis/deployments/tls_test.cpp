// Sentinels and clusters over TLS.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include <latchkey/locks.hpp>

#include "support/polling.hpp"
#include "support/servers/redis_cluster.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

std::string uri_of(const std::string& scheme, const RedisServer& server, const std::string& rest,
                   const Certificates& files) {
  return scheme + "://127.0.0.1:" + std::to_string(server.tls_port()) + rest +
         "?tls_ca=" + files.authority;
}

TEST(RedisTlsDeployments, ASentinelAndItsMasterAreUsedOverTls) {
  RedisServer master({.tls = true});
  const Certificates& files = master.certificates();
  RedisServer sentinel(
      {.config = {"sentinel monitor orders 127.0.0.1 " + std::to_string(master.tls_port()) + " 1",
                  "tls-replication yes", "tls-ca-cert-file " + files.authority,
                  "tls-cert-file " + files.server, "tls-key-file " + files.server_key},
       .tls = true,
       .arguments = {"--sentinel"}});
  const Locks locks = Locks::connect(uri_of("rediss+sentinel", sentinel, "/orders", files));
  Hold hold = locks.lock("k").acquire(1s);
  EXPECT_EQ(master.client()({"EXISTS", "k"}).integer(), 1);
  EXPECT_TRUE(hold.release());
}

TEST(RedisTlsDeployments, AClusterIsUsedOverTls) {
  RedisServer node({.config = {"tls-cluster yes"}, .tls = true, .cluster = true});
  add_slots(node, 0, slot_count);
  await("the cluster", [&] {
    const std::string info = node.client()({"CLUSTER", "INFO"}).text();
    return info.find("cluster_state:ok") != std::string::npos ? std::string() : info;
  });
  const Locks locks = Locks::connect(uri_of("rediss+cluster", node, "", node.certificates()));
  Hold hold = locks.lock("k").acquire(1s);
  EXPECT_EQ(node.client()({"EXISTS", "k"}).integer(), 1);
  EXPECT_TRUE(hold.release());
  EXPECT_THAT(node.client()({"CLIENT", "LIST"}).text(), HasSubstr("name=latchkey"));
}

}  // namespace
}  // namespace latchkey::tests
