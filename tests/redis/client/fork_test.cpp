// After a fork the child uses its own connection, and the parent's connection still works.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include <latchkey/locks.hpp>

#include "support/child.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

class RedisFork : public ::testing::TestWithParam<bool> {
 protected:
  [[nodiscard]] std::string uri() const {
    if (!GetParam()) return server_.unix_uri();
    return "rediss://localhost:" + std::to_string(server_.tls_port()) +
           "?tls_ca=" + server_.certificates().authority;
  }
  /// The client IDs of latchkey's connections.
  std::string connections() {
    std::string ids;
    const std::string list = client_({"CLIENT", "LIST"}).text();
    for (std::size_t at = 0; at < list.size();) {
      const std::string line = list.substr(at, list.find('\n', at) - at);
      if (line.find("name=latchkey") != std::string::npos) ids += line.substr(0, line.find(' '));
      at += line.size() + 1;
    }
    return ids;
  }

  RedisServer server_{{.config = {"tls-auth-clients no"}, .tls = true}};
  RedisClient client_ = server_.client();
};

TEST_P(RedisFork, AChildHasItsOwnConnectionAndDoesNotTouchItsParents) {
  const Locks locks = Locks::connect(uri());
  std::optional<Hold> hold = locks.lock("k").acquire(forever);
  const std::string before = connections();
  EXPECT_EQ(in_child([&](Findings& findings) {
              CHILD_EXPECT(findings, hold->lost());
              CHILD_EXPECT(findings, !locks.lock("k").try_acquire().has_value());
              CHILD_EXPECT(findings, locks.lock("child").try_acquire().has_value());
              hold.reset();
            }),
            "");
  EXPECT_EQ(connections(), before) << "the child neither closed nor killed them";
  EXPECT_FALSE(hold->lost());
  EXPECT_TRUE(hold->release());
}

TEST_P(RedisFork, AForkWhileOtherThreadsLockAndUnlockSucceeds) {
  const Locks locks = Locks::connect(uri());
  std::atomic<bool> over = false;
  std::atomic<int> failed = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&, thread] {
      Lock lock = locks.lock("k" + std::to_string(thread % 2));
      while (!over) {
        lock.lock();
        if (!lock.release()) ++failed;
      }
    });
  }
  for (int round = 0; round < 10; ++round) {
    EXPECT_EQ(in_child([&](Findings& findings) {
                CHILD_EXPECT(findings, locks.lock("child").try_acquire(5s).has_value());
                CHILD_EXPECT(findings, locks.lock("k0").try_acquire(10s).has_value());
              }),
              "");
  }
  over = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
}

INSTANTIATE_TEST_SUITE_P(Plain, RedisFork, ::testing::Values(false));
INSTANTIATE_TEST_SUITE_P(Tls, RedisFork, ::testing::Values(true));

}  // namespace
}  // namespace latchkey::tests
