// Holds are watched on a real server: a hold that somebody takes away is lost long before its next
// check.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <future>
#include <optional>
#include <sstream>
#include <stop_token>
#include <string>
#include <vector>

#include <latchkey/testing/recorder.hpp>

#include "fixture.hpp"
#include "operator_client.hpp"
#include "support/servers/fault_proxy.hpp"
#include "support/stalls.hpp"

namespace latchkey::tests {
namespace {

using enum LockType;

class ZooKeeperWatch : public ZooKeeperTest {
 protected:
  /// Each hold has this lease. Without a watch its loss is known after a third of it.
  static constexpr auto lease = 15s;

  void SetUp() override {
    ZooKeeperTest::SetUp();
    if (IsSkipped()) return;
    folder_ = fresh_folder();
    operator_.emplace(server());
  }
  [[nodiscard]] Locks connect(Listener* listener = nullptr,
                              std::chrono::milliseconds watchdog_lease = lease,
                              bool watches = true) const {
    register_zookeeper();
    Options options;
    options.watchdog = watchdog_lease;
    options.listener = listener;
    options.watch_holds = watches;
    return Locks::connect(server().uri(folder_), options);
  }
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
  static void await_watch(const std::string& path) {
    await("the watch", [&] { return is_watched(path) ? "" : "not set"; });
  }
  static void await_loss(const Hold& hold) {
    await("the loss", [&] { return hold.lost() ? "" : "it is held"; });
  }
  static void await_renewals(const testing::Recorder& recorder, std::size_t count) {
    await("renewals",
          [&] { return recorder.count(Event::Kind::renewed) >= count ? "" : "there were fewer"; });
  }
  /// Whether `hold` is known as lost within a second after `take_away`.
  static ::testing::AssertionResult is_lost_at_once(const Hold& hold,
                                                    const std::function<void()>& take_away) {
    const Stalls stalls;
    const auto begin = std::chrono::steady_clock::now();
    take_away();
    await_loss(hold);
    const auto took = std::chrono::steady_clock::now() - begin - stalls.total();
    if (took < 1s) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "lost after " << took / 1ms << " ms";
  }

  std::string folder_;
  std::optional<OperatorClient> operator_;
};

TEST_F(ZooKeeperWatch, ADeletedNodeIsLostAtOnceWhateverItsType) {
  const Locks locks = connect();
  EXPECT_TRUE(locks.capabilities().watches);
  for (const LockType type : {REENTRANT, FENCED, FAIR, READ, WRITE}) {
    for (const Lease& each : {Lease(watchdog), Lease(lease)}) {
      const std::string key =
          std::string(to_string(type)) + (each.is_watchdog() ? "-watchdog" : "-fixed");
      SCOPED_TRACE(key);
      const Hold hold = locks.lock(key, type).acquire(1s, each);
      const std::string held = node(key);
      await_watch(held);
      EXPECT_FALSE(hold.lost());
      EXPECT_TRUE(is_lost_at_once(hold, [&] { operator_->remove(held); }));
    }
  }
}

TEST_F(ZooKeeperWatch, AForcedReleaseIsLostAtOnceAndTheListenerFollows) {
  testing::Recorder recorder;
  const Locks locks = connect(&recorder), others = connect();
  const Hold hold = locks.lock("key").acquire(1s, lease);
  const std::stop_token stop = hold.stop_token();
  await_watch(node("key"));
  EXPECT_TRUE(is_lost_at_once(hold, [&] { others.force_release("key"); }));
  await("the stop", [&] { return stop.stop_requested() ? "" : "not requested"; });
  EXPECT_TRUE(recorder.await(Event::Kind::lost));
}

TEST_F(ZooKeeperWatch, AReaderThatWasAWriterIsLostAtOnce) {
  const Locks locks = connect();
  Hold writes = locks.lock("key", WRITE).acquire(1s, lease);
  await_watch(node("key"));
  const Hold reads = locks.lock("key", READ).acquire(1s, lease);
  EXPECT_TRUE(writes.release());
  await("the reader", [&] {
    const bool is_reader = node("key").find("__READ__") != std::string::npos;
    return is_reader && is_watched(node("key")) ? "" : "none";
  });
  EXPECT_FALSE(reads.lost());
  EXPECT_TRUE(is_lost_at_once(reads, [&] { operator_->remove(node("key")); }));
}

TEST_F(ZooKeeperWatch, ItsOwnRenewalsAndReleaseTellOfNoLoss) {
  testing::Recorder recorder;
  const Locks locks = connect(&recorder, 900ms);
  Hold hold = locks.lock("key").acquire(1s);
  await_watch(node("key"));
  await_renewals(recorder, recorder.count(Event::Kind::renewed) + 3);
  EXPECT_TRUE(hold.release());
  EXPECT_FALSE(locks.lock("key").try_acquire(1s)->lost());
  EXPECT_EQ(recorder.count(Event::Kind::lost), 0U);
}

TEST_F(ZooKeeperWatch, ItIsWatchedAgainWhenTheConnectionIsBack) {
  FaultProxy proxy(server().port());
  const Locks locks =
      connect_zookeeper("zookeeper://127.0.0.1:" + std::to_string(proxy.port()) + folder_, lease);
  const Hold kept = locks.lock("kept").acquire(1s, lease);
  const Hold taken = locks.lock("taken").acquire(1s, lease);
  await_watch(node("kept"));
  await_watch(node("taken"));
  proxy.hold(FaultProxy::Direction::to_client);
  operator_->remove(node("taken"));
  proxy.cut();
  await_loss(taken);
  await_watch(node("kept"));
  EXPECT_FALSE(kept.lost());
  EXPECT_TRUE(is_lost_at_once(kept, [&] { operator_->remove(node("kept")); }));
}

TEST_F(ZooKeeperWatch, ItIsOffIfTheOptionsSaySo) {
  testing::Recorder recorder;
  const Locks locks = connect(&recorder, 900ms, false);
  EXPECT_FALSE(locks.capabilities().watches);
  Hold hold = locks.lock("key").acquire(1s);
  await_renewals(recorder, 4);  // the last one is more than half a second after the grant
  EXPECT_FALSE(is_watched(node("key")));
  EXPECT_TRUE(hold.release());
}

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
