// Tests of locks that C++ and real Curator share.
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "fixture.hpp"
#include "interop/java_peer.hpp"

namespace latchkey::tests {
namespace {

/// Two types that exclude each other, here and there.
struct Pair {
  const char* name;
  LockType held, wanted;
  const char *java_held, *java_wanted;
};

class CuratorTest : public ZooKeeperTest, public ::testing::WithParamInterface<Pair> {
 protected:
  void SetUp() override {
    ZooKeeperTest::SetUp();
    if (IsSkipped()) return;
    static const int missing =
        std::system(LATCHKEY_CURATOR_SCRIPT " " LATCHKEY_CURATOR_JARS);  // it says why
    if (missing != 0) GTEST_SKIP() << "Curator is not at hand";
    ::setenv("LATCHKEY_INTEROP_CLASSPATH", LATCHKEY_CURATOR_JARS "/*", 1);
    ::setenv("LATCHKEY_INTEROP_PEER", LATCHKEY_CURATOR_PEER, 1);
  }
  /// One process for all tests: it takes a second to start.
  static JavaPeer& java() {
    static JavaPeer peer(server().address(), 6s);
    return peer;
  }
  [[nodiscard]] std::string path() const { return folder_ + "/orders/42"; }

  const std::string folder_ = fresh_folder();
};

INSTANTIATE_TEST_SUITE_P(
    Types, CuratorTest,
    ::testing::Values(Pair{"plain", LockType::REENTRANT, LockType::REENTRANT, "plain", "plain"},
                      Pair{"fair", LockType::FAIR, LockType::FAIR, "plain", "plain"},
                      Pair{"fenced", LockType::FENCED, LockType::FENCED, "plain", "plain"},
                      Pair{"write", LockType::WRITE, LockType::WRITE, "write", "write"},
                      Pair{"read_before_write", LockType::READ, LockType::WRITE, "read", "write"},
                      Pair{"write_before_read", LockType::WRITE, LockType::READ, "write", "read"}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST_P(CuratorTest, CuratorWaitsForLatchkey) {
  const Locks locks = connect_zookeeper(server().uri(folder_));
  Hold hold = locks.lock("orders/42", GetParam().held).acquire(1s);
  const std::string wanted = std::string(" ") + GetParam().java_wanted + " " + path();
  EXPECT_EQ(java().send("a", "try" + wanted + " 50"), "false");
  std::future<std::string> granted = java().start("a", "lock" + wanted);
  EXPECT_EQ(granted.wait_for(100ms), std::future_status::timeout);
  EXPECT_TRUE(hold.release());
  EXPECT_EQ(granted.get(), "true");
  EXPECT_EQ(java().send("a", "unlock" + wanted), "true");
  expect_nothing_left(server(), folder_);
}

TEST_P(CuratorTest, LatchkeyWaitsForCurator) {
  const Locks locks = connect_zookeeper(server().uri(folder_));
  const std::string held = std::string(" ") + GetParam().java_held + " " + path();
  EXPECT_EQ(java().send("a", "lock" + held), "true");
  Lock lock = locks.lock("orders/42", GetParam().wanted);
  EXPECT_FALSE(lock.try_acquire(0s));
  EXPECT_FALSE(lock.try_acquire(50ms));
  auto granted = std::async(std::launch::async, [&] {
    std::optional<Hold> hold = lock.try_acquire(20s);
    return hold && hold->release();
  });
  EXPECT_EQ(granted.wait_for(100ms), std::future_status::timeout);
  EXPECT_EQ(java().send("a", "unlock" + held), "true");
  EXPECT_TRUE(granted.get());
  expect_nothing_left(server(), folder_);
}

TEST_P(CuratorTest, NoUpdateIsLostAmongBoth) {
  if (GetParam().held != GetParam().wanted) GTEST_SKIP() << "readers update nothing";
  const std::filesystem::path file =  // its own for each of the programs that run at once
      std::filesystem::temp_directory_path() /
      ("latchkey-curator-" + std::to_string(::getpid()) + folder_.substr(1));
  std::ofstream(file) << 0;
  constexpr int times = 40;
  std::vector<std::future<std::string>> theirs;
  for (const char* const actor : {"a", "b"}) {
    theirs.push_back(java().start(actor, std::string("count ") + GetParam().java_held + " " +
                                             path() + " " + std::to_string(times) + " " +
                                             file.string()));
  }
  std::vector<std::future<void>> ours;
  for (int thread = 0; thread < 2; ++thread) {
    ours.push_back(std::async(std::launch::async, [&] {
      const Locks locks = connect_zookeeper(server().uri(folder_));
      Lock lock = locks.lock("orders/42", GetParam().held);
      for (int round = 0; round < times; ++round) {
        const Hold hold = lock.acquire(20s);
        int number = 0;
        std::ifstream(file) >> number;
        std::ofstream(file) << number + 1;
      }
    }));
  }
  for (auto& each : theirs) EXPECT_EQ(each.get(), "true");
  for (auto& each : ours) each.get();
  int number = 0;
  std::ifstream(file) >> number;
  EXPECT_EQ(number, 4 * times);
  std::filesystem::remove(file);
}

TEST_P(CuratorTest, ADowngradedWriteLetsReadersOfCuratorIn) {
  if (GetParam().held != LockType::WRITE || GetParam().wanted != LockType::READ) {
    GTEST_SKIP() << "of WRITE and READ only";
  }
  const Locks locks = connect_zookeeper(server().uri(folder_));
  ReadWriteLock both = locks.read_write("orders/42");
  Hold write = both.write().acquire(1s);
  Hold read = both.read().acquire(1s);
  std::future<std::string> writer = java().start("w", "lock write " + path());
  await("the writer", [&] { return locks.inspect("orders/42").queue.empty() ? "none" : ""; });
  EXPECT_TRUE(write.release());  // a READ at the position of the WRITE, before the writer
  EXPECT_EQ(writer.wait_for(200ms), std::future_status::timeout);
  EXPECT_TRUE(read.release());
  EXPECT_EQ(writer.get(), "true");
  EXPECT_EQ(java().send("w", "unlock write " + path()), "true");
}

}  // namespace
}  // namespace latchkey::tests
