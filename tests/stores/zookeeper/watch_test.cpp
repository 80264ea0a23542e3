// Events of watched nodes on a real server.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "fixture.hpp"
#include "operator_client.hpp"

namespace latchkey::tests {
namespace {

class ZooKeeperWatch : public ZooKeeperTest {
 protected:
  /// Each hold has this lease.
  static constexpr auto lease = 15s;

  void SetUp() override {
    ZooKeeperTest::SetUp();
    if (IsSkipped()) return;
    folder_ = fresh_folder();
    operator_.emplace(server());
  }
  [[nodiscard]] Locks connect() { return connect_zookeeper(server().uri(folder_), lease); }
  /// The nodes of the holder and of those who wait, as the server names them.
  [[nodiscard]] std::vector<std::string> nodes(const std::string& key) const {
    std::vector<std::string> found;
    std::istringstream lines(server().ask("dump"));
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with('\t' + folder_ + '/' + key + '/')) found.push_back(line.substr(1));
    }
    return found;
  }
  [[nodiscard]] std::string node(const std::string& key) const {
    const auto all = nodes(key);
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? std::string() : all.front();
  }
  [[nodiscard]] static bool is_watched(const std::string& path) {
    return server().ask("wchp").find(path + '\n') != std::string::npos;
  }

  std::string folder_;
  std::optional<OperatorClient> operator_;
};

// Curator's Revoker writes into the node of a holder. The next in line was granted the lock.
TEST_F(ZooKeeperWatch, AHolderWhoseNodeIsWrittenToStillExcludesOthers) {
  const Locks locks = connect(), others = connect();
  Hold hold = locks.lock("key").acquire(0ms, lease);
  const std::string held = node("key");
  auto waiter = std::async(
      std::launch::async, [&] { return others.lock("key").try_acquire(lease, lease).has_value(); });
  await("the waiter", [&] { return nodes("key").size() == 2 && is_watched(held) ? "" : "none"; });
  operator_->write(held, "__REVOKE__");
  EXPECT_EQ(waiter.wait_for(1500ms), std::future_status::timeout);
  EXPECT_FALSE(hold.lost());
  EXPECT_TRUE(hold.release());
  EXPECT_TRUE(waiter.get());
}

}  // namespace
}  // namespace latchkey::tests
