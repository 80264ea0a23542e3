// Semaphores shared by C++ and Java: latchkey::Semaphore and RPermitExpirableSemaphore.
#include <algorithm>
#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <latchkey/semaphore.hpp>

#include "interop/interop.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using enum LockType;

class Permits : public Interop {
 protected:
  /// The semaphore of `key`, with 3 permits unless Java says otherwise.
  [[nodiscard]] Semaphore semaphore(const std::string& key) const {
    return locks_.semaphore(key, 3);
  }
  std::string java(const std::string& verb, const std::string& key,
                   const std::string& arguments = "") {
    return InteropTest::java("a", verb, PERMIT, key, arguments);
  }
  std::string java_takes(const std::string& key, int count, int lease = 30'000) {
    return java("acquire", key, std::to_string(count) + " 0 " + std::to_string(lease));
  }
};

TEST_P(Permits, EachSideCountsTheOthersPermits) {
  for (const std::string& key : keys()) {
    std::optional<Hold> ours = semaphore(key).acquire(2, 0ms, 30s);
    EXPECT_EQ(java("available", key), "1");
    EXPECT_EQ(java("acquired", key), "2");
    EXPECT_EQ(java("total", key), "3");
    EXPECT_EQ(java("permits", key, "9"), "false") << "it exists";
    const std::string id = java_takes(key, 1);
    ASSERT_EQ(id.size(), 32U) << id;
    EXPECT_EQ(semaphore(key).available(), 0);
    EXPECT_EQ(java_takes(key, 1), "none");
    EXPECT_FALSE(semaphore(key).try_acquire().has_value());
    ours.reset();
    EXPECT_EQ(java("available", key), "2");
    EXPECT_EQ(java("release", key, id), "true");
    EXPECT_EQ(semaphore(key).available(), 3);
  }
}

TEST_P(Permits, TheNumberThatJavaSetWins) {
  for (const std::string& key : keys()) {
    EXPECT_EQ(java("permits", key, "5"), "true");
    EXPECT_EQ(semaphore(key).total(), 5);
    const Hold hold = semaphore(key).acquire(3, forever);
    EXPECT_EQ(java("available", key), "2");
    EXPECT_EQ(java("set", key, "7"), "true");
    EXPECT_EQ(semaphore(key).available(), 4);
    semaphore(key).set_total(4);
    EXPECT_EQ(java("total", key), "4");
    EXPECT_EQ(java("available", key), "1");
  }
}

TEST_P(Permits, AReleaseWakesTheOtherSide) {
  std::vector<Duration> cpp, other;
  for (int round = 0; round < 5; ++round) {
    for (const std::string& key : keys()) {
      const Semaphore ours = semaphore(key);
      if (round == 0) {
        EXPECT_EQ(java("permits", key, "3"), "true");
      }
      const std::string ids = java_takes(key, 3);
      ASSERT_EQ(ids.size(), 3 * 32U + 2) << ids;
      auto granted = std::async(std::launch::async, [locks = deployment_.connect(), &key] {
        const Hold hold = locks.semaphore(key, 3).acquire(2, 20s, 30s);
        return steady_clock::now();
      });
      await_listeners(key, PERMIT, 1);
      const auto released = steady_clock::now();
      EXPECT_EQ(java("release", key, ids), "true");
      cpp.push_back(granted.get() - released);
      await_listeners(key, PERMIT, 0);

      std::optional<Hold> hold = ours.acquire(3, 0ms, 30s);
      auto answer = start_java("b", "acquire", PERMIT, key, "2 20000 30000");
      await_listeners(key, PERMIT, 1);
      const auto end = steady_clock::now();
      hold.reset();
      const std::string theirs = answer.get();
      other.push_back(steady_clock::now() - end);
      EXPECT_EQ(theirs.size(), 2 * 32U + 1) << theirs;
      EXPECT_EQ(java("release", key, theirs), "true");
      await_listeners(key, PERMIT, 0);
    }
  }
  expect_woken("C++ by Java", cpp);
  expect_woken("Java by C++", other);
}

TEST_P(Permits, AnExpiredPermitIsTakenByTheOtherSide) {
  for (const std::string& key : keys()) {
    EXPECT_EQ(java("permits", key, "1"), "true");
    const std::string dead = java_takes(key, 1, 400);
    ASSERT_EQ(dead.size(), 32U);
    std::optional<Hold> ours = semaphore(key).acquire(1, 20s, 400ms);
    EXPECT_EQ(java("try_release", key, dead), "false") << "its lease has ended";
    EXPECT_EQ(semaphore(key).available(), 0);
    const std::string theirs = java("acquire", key, "1 20000 30000");
    EXPECT_EQ(theirs.size(), 32U) << theirs;
    EXPECT_TRUE(ours->lost()) << "it knew before the other was in";
    EXPECT_FALSE(ours->release());
    EXPECT_EQ(semaphore(key).available(), 0) << "a late release frees nothing";
    EXPECT_EQ(java("release", key, theirs), "true");
  }
}

TEST_P(Permits, OurPermitsOutliveTheWatchdogsPeriodAndJavaMayHaveNoLease) {
  const Locks locks = deployment_.connect({.watchdog = watchdog_period});
  struct Pair {
    std::string key;
    Hold ours;
    std::string endless;
  };
  std::vector<Pair> all;
  for (const std::string& key : keys()) {
    Hold ours = locks.semaphore(key, 3).acquire(2, forever);
    all.push_back({key, std::move(ours), java_takes(key, 1, -1)});
    ASSERT_EQ(all.back().endless.size(), 32U) << all.back().endless;
  }
  // sleeps: the watchdogs of both keep the permits for longer than a lease
  std::this_thread::sleep_for(2 * watchdog_period);
  for (const Pair& each : all) {
    EXPECT_FALSE(each.ours.lost());
    EXPECT_EQ(java("acquired", each.key), "3");
    EXPECT_FALSE(locks.semaphore(each.key, 3).try_acquire().has_value());
    EXPECT_EQ(java("release", each.key, each.endless), "true");
  }
}

TEST_P(Permits, OnePermitThatJavaReleasesIsALossOfTheWholeHold) {
  const Locks locks = deployment_.connect({.watchdog = 600ms});
  for (const std::string& key : keys()) {
    const Hold hold = locks.semaphore(key, 3).acquire(2, forever);
    const LockInfo info = semaphore(key).inspect();
    ASSERT_EQ(info.holders.size(), 2U);
    EXPECT_EQ(java("try_release", key, info.holders[0].id), "true");
    EXPECT_TRUE(eventually([&] { return hold.lost(); }));
    EXPECT_TRUE(eventually([&] { return java("available", key) == "3"; }));
  }
}

TEST_P(Permits, DeletedByEitherSideNothingIsLeft) {
  for (const std::string& key : keys()) {
    const Hold hold = semaphore(key).acquire(2, forever);
    EXPECT_EQ(java("delete", key), "true");
    EXPECT_EQ(semaphore(key).total(), 3) << "it does not exist";
    EXPECT_EQ(java("permits", key, "2"), "true");
    EXPECT_EQ(java_takes(key, 2).size(), 65U);
    EXPECT_TRUE(semaphore(key).destroy());
    EXPECT_EQ(java("total", key), "0");
  }
}

INSTANTIATE_TEST_SUITE_P(Server, Permits, ::testing::Values(DeploymentKind::server),
                         [](const auto&) { return std::string("server"); });
INSTANTIATE_TEST_SUITE_P(Cluster, Permits,
                         ::testing::Values(DeploymentKind::cluster_auto, DeploymentKind::cluster_on,
                                           DeploymentKind::cluster_off),
                         [](const auto& each) { return name_of(each.param); });

}  // namespace
}  // namespace latchkey::tests
