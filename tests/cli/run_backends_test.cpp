// `latchkey run` on each kind of backend.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/run_fixture.hpp"
#include "support/servers/redis_cluster.hpp"
#include "support/servers/sentinel_group.hpp"

namespace latchkey::tests {
namespace {

class CliRunBackends : public CliRun {
 protected:
  /// The command gets the lock, and its exit status becomes that of the tool.
  void expect_locks(const std::string& at, const std::vector<std::string>& types,
                    const std::string& key = "a,b") const {
    for (const std::string& type : types) {
      Process tool(latchkey_run(at, {"-k", key, "-t", type, "--wait", "30s"},
                                "[ \"$LATCHKEY_KEY\" = " + key + " ] && exit 5"),
                   folder_.file("log"));
      EXPECT_EQ(tool.wait(), 5) << at << ' ' << type << ": " << log();
    }
  }

  inline static const std::vector<std::string> all{"reentrant", "fair", "read", "write", "fenced"};
  inline static const std::vector<std::string> of_a_quorum{"reentrant", "read", "write"};
};

TEST_F(CliRunBackends, MemoryLocksWithinTheToolOnly) { expect_locks("memory:", all); }

TEST_F(CliRunBackends, OneServerBySocketAndByAddress) {
  expect_locks(server().unix_uri(), all);
  expect_locks(server().tcp_uri(), all);
}

TEST_F(CliRunBackends, Sentinel) {
  const SentinelGroup group;
  expect_locks(group.uri(), all);
}

TEST_F(CliRunBackends, ClusterWithKeysOnSeveralNodes) {
  const RedisCluster cluster;
  expect_locks(cluster.uri(), all);
}

TEST_F(CliRunBackends, Quorum) {
  const RedisServer second;
  const RedisServer third;
  const std::string quorum =
      "quorum:" + server().unix_uri() + ' ' + second.unix_uri() + ' ' + third.unix_uri();
  expect_locks(quorum, of_a_quorum);
  Process fair(latchkey_run(quorum, {"-k", "a", "-t", "fair"}, "exit 5"), folder_.file("log"));
  EXPECT_EQ(fair.wait(), 64) << "a majority has no order: " << log();
}

}  // namespace
}  // namespace latchkey::tests
