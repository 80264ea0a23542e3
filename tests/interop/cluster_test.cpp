// C++ and Java in one cluster, also while slots move.
#include "interop/interop.hpp"

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <future>
#include <string>
#include <thread>
#include <vector>

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

/// Moves a slot that has a key for each pair of lock types.
///
/// Redisson 4.7.0 loses its sharded subscriptions when a slot moves: reattachPubSub() subscribes
/// again without a codec, which throws a NullPointerException. Such a waiter misses all releases
/// until the lease that it knows of ends, so each test starts a new client afterwards.
class MovingSlot : public Interop {
 protected:
  void TearDown() override {
    if (java_waited_ && GetParam() != DeploymentKind::cluster_off) deployment_.restart_java();
  }

  static std::string key_of(const Kind& kind) { return '{' + name() + '}' + kind.name; }

  void begin_migration() {
    slot_ = cluster_.slot_of('{' + name() + '}');
    from_ = cluster_.owner_of(slot_);
    for (const std::size_t each : cluster_.masters()) {
      if (each != from_) to_ = each;
    }
    cluster_.begin_migration(slot_, from_, to_);
  }
  void move_keys() { cluster_.move_keys(slot_, from_, to_); }
  void end_migration() { cluster_.end_migration(slot_, from_, to_); }
  void migrate() { begin_migration(), move_keys(), end_migration(); }

  /// The longest time for which one side holds the keys while the other waits for them.
  static constexpr auto lease = 10s;
  struct JavaWaits {
    std::vector<Hold> holds;
    std::vector<std::future<std::string>> answers;
    Time lease_ends{};
  };
  JavaWaits let_java_wait() {
    java_waited_ = true;
    JavaWaits all;
    for (const Kind& kind : kinds) {
      all.holds.push_back(locks_.lock(key_of(kind), kind.held).acquire(0ms, lease));
      all.lease_ends = steady_clock::now() + lease;
      all.answers.push_back(start_java(kind.name, "try", kind.wanted, key_of(kind), "20000 30000"));
      await_listeners(key_of(kind), kind.wanted, 1);
    }
    return all;
  }
  std::vector<std::future<Time>> let_cpp_wait() {
    std::vector<std::future<Time>> all;
    for (const Kind& kind : kinds) {
      EXPECT_EQ(java(kind.name, "try", kind.held, key_of(kind), "0 30000"), "true");
      all.push_back(start_cpp(key_of(kind), kind.wanted));
      await_listeners(key_of(kind), kind.wanted, 1);
    }
    return all;
  }

  /// Whether Java subscribes to all channels on the slot's new node within 3 s.
  bool java_listens_there() {
    RedisClient node = cluster_.node(to_).client();
    const auto end = steady_clock::now() + 3s;
    for (const Kind& kind : kinds) {
      while (Deployment::listeners(node, key_of(kind), kind.wanted).all() == 0) {
        if (steady_clock::now() >= end) return false;
        // sleeps: a server does not tell of listeners, so it is asked
        std::this_thread::sleep_for(10ms);
      }
    }
    return true;
  }

  /// Expects that Java acquires all keys, and releases them; when each was acquired, at the latest.
  std::vector<Time> expect_served(JavaWaits& all) {
    std::vector<Time> acquired;
    for (std::size_t index = 0; index < kinds.size(); ++index) {
      EXPECT_EQ(all.answers[index].get(), "true") << kinds.at(index).name;
      acquired.push_back(steady_clock::now());
    }
    EXPECT_LT(steady_clock::now(), all.lease_ends + 1s + stalls_.total())
        << "waiters need no later lease to end";
    for (const Kind& kind : kinds) {
      EXPECT_EQ(java(kind.name, "unlock", kind.wanted, key_of(kind)), "true") << kind.name;
    }
    return acquired;
  }

  RedisCluster& cluster_ = Deployment::cluster();
  std::size_t slot_ = 0, from_ = 0, to_ = 0;
  bool java_waited_ = false;
};

class Channels : public Interop {};

// A C++ waiter in the process queue needs the lock's channel only if Java holds the lock.
TEST_P(Channels, JavaAndCppSubscribeToTheSameKindOfChannel) {
  for (const std::string& key : keys()) {
    EXPECT_EQ(java("b", "try", LockType::REENTRANT, key, "0 30000"), "true");
    auto answer = start_java("a", "try", LockType::REENTRANT, key, "20000 30000");
    auto granted = start_cpp(key, LockType::REENTRANT);
    await_listeners(key, LockType::REENTRANT, 2);
    const Deployment::Listeners listeners = deployment_.listeners(key, LockType::REENTRANT);
    const bool sharded = GetParam() != DeploymentKind::cluster_off;  // AUTO: this server can
    EXPECT_EQ(listeners.sharded, sharded ? 2U : 0U);
    EXPECT_EQ(listeners.plain, sharded ? 0U : 2U);
    EXPECT_EQ(java("b", "unlock", LockType::REENTRANT, key), "true");
    EXPECT_EQ(answer.get(), "true");
    EXPECT_EQ(java("a", "unlock", LockType::REENTRANT, key), "true");
    granted.get();
  }
}

TEST_P(MovingSlot, AReleaseByCppWakesJavaAfterTheSlotHasMoved) {
  JavaWaits all = let_java_wait();
  migrate();
  const bool listens = java_listens_there();
  EXPECT_TRUE(listens || GetParam() != DeploymentKind::cluster_off);
  for (Hold& hold : all.holds) EXPECT_TRUE(hold.extend(30s)) << hold.key();
  std::vector<Time> released;
  for (Hold& hold : all.holds) {
    released.push_back(steady_clock::now());
    EXPECT_TRUE(hold.release());
  }
  const std::vector<Time> acquired = expect_served(all);
  if (listens) {
    std::vector<Duration> times;
    for (std::size_t index = 0; index < released.size(); ++index) {
      times.push_back(acquired[index] - released[index]);
    }
    expect_woken("Java by C++ after a move", times);
  } else {
    std::printf("    %s: Java does not listen on the new node\n", name().c_str());
  }
}

// 4 s after the move a C++ waiter polls only once a second, so only a notification wakes it sooner.
TEST_P(MovingSlot, AReleaseByJavaWakesCppAfterTheSlotHasMoved) {
  for (const auto pause : {0s, 4s}) {
    const auto begun = steady_clock::now();
    std::vector<std::future<Time>> granted = let_cpp_wait();
    migrate();
    // sleeps: all have waited for the pause, however long the migration took
    std::this_thread::sleep_until(begun + pause);
    std::vector<Duration> times;
    for (std::size_t index = 0; index < kinds.size(); ++index) {
      const Kind& kind = kinds.at(index);
      const auto released = steady_clock::now();
      EXPECT_EQ(java(kind.name, "unlock", kind.held, key_of(kind)), "true") << kind.name;
      times.push_back(granted[index].get() - released);
    }
    expect_woken(pause == 0s ? "C++ by Java right after a move" : "C++ by Java after a move",
                 times);
  }
}

// The scripts take several keys. During a migration they wait until all keys are on one node.
TEST_P(MovingSlot, AReleaseByCppDuringAMigrationGrantsTheLockToJava) {
  JavaWaits all = let_java_wait();
  begin_migration();
  move_keys();
  std::vector<std::future<bool>> released;
  for (Hold& hold : all.holds) {
    released.push_back(std::async(std::launch::async, [&hold] { return hold.release(); }));
  }
  // sleeps: the releases meet the migration, and a server does not tell of them
  std::this_thread::sleep_for(300ms);
  end_migration();
  for (std::future<bool>& each : released) EXPECT_TRUE(each.get());
  expect_served(all);
}

TEST_P(MovingSlot, AReleaseByJavaDuringAMigrationWakesCpp) {
  std::vector<std::future<Time>> granted = let_cpp_wait();
  begin_migration();
  move_keys();
  std::vector<std::future<std::string>> released;
  for (const Kind& kind : kinds) {
    released.push_back(start_java(kind.name, "unlock", kind.held, key_of(kind)));
  }
  // sleeps: the releases meet the migration, and a server does not tell of them
  std::this_thread::sleep_for(300ms);
  end_migration();
  std::vector<Duration> times;
  for (std::size_t index = 0; index < kinds.size(); ++index) {
    EXPECT_EQ(released[index].get(), "true") << kinds.at(index).name;
    const auto seen = steady_clock::now();
    times.push_back(granted[index].get() - seen);
  }
  expect_woken("C++ by Java in the middle of a move", times);
}

const auto modes = ::testing::Values(DeploymentKind::cluster_auto, DeploymentKind::cluster_on,
                                     DeploymentKind::cluster_off);
const auto mode_of = [](const auto& each) { return name_of(each.param); };
INSTANTIATE_TEST_SUITE_P(Cluster, Interop, modes, mode_of);
INSTANTIATE_TEST_SUITE_P(Cluster, Channels, modes, mode_of);
INSTANTIATE_TEST_SUITE_P(Cluster, MovingSlot, modes, mode_of);
INSTANTIATE_TEST_SUITE_P(Cluster, Exclusive, ::testing::Combine(modes, ::testing::ValuesIn(kinds)),
                         [](const auto& each) {
                           return name_of(std::get<DeploymentKind>(each.param)) + '_' +
                                  std::get<Kind>(each.param).name;
                         });

}  // namespace
}  // namespace latchkey::tests
