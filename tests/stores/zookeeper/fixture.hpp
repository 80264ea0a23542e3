// A test on the ZooKeeper server that the tests of the program share.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>

#include <latchkey/error.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/zookeeper.hpp>

#include "support/polling.hpp"
#include "zookeeper_server.hpp"

namespace latchkey::tests {

using namespace std::chrono_literals;

/// Locks on `uri` whose watchdog's lease is `session`. The session is not shorter, and longer by a
/// margin unless `uri` names one.
inline Locks connect_zookeeper(const std::string& uri, std::chrono::milliseconds session = 6s,
                               std::chrono::milliseconds timeout = 2s) {
  register_zookeeper();
  Options options;
  options.watchdog = session;
  options.command_timeout = timeout;
  return Locks::connect(uri, options);
}

class ZooKeeperTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string missing = ZooKeeperServer::why_missing();
    if (!missing.empty()) GTEST_SKIP() << missing;
  }
  [[nodiscard]] static ZooKeeperServer& server() { return ZooKeeperServer::shared(); }
  /// A folder of locks that no other test uses.
  [[nodiscard]] static std::string fresh_folder() {
    static std::atomic<int> last = 0;
    return "/test" + std::to_string(++last);
  }
  /// Containers are deleted every 500 ms, the innermost first.
  static void expect_nothing_left(const ZooKeeperServer& where, const std::string& folder) {
    await("the end of " + folder, [&] {
      const std::string dump = where.ask("dump");  // the ephemeral nodes by session
      const bool left = dump.find('\t' + folder + '/') != std::string::npos;
      return left ? dump : std::string();
    });
  }
};

}  // namespace latchkey::tests
