// Go's RWMutex and Mutex of etcd's own client, and latchkey, on the same locks.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <latchkey/locks.hpp>

#include "etcd_fixture.hpp"
#include "support/process.hpp"

#ifndef LATCHKEY_ETCD_RECIPE
#define LATCHKEY_ETCD_RECIPE ""
#endif

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using enum LockType;

class EtcdRecipe : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::string(LATCHKEY_ETCD_RECIPE).empty())
      GTEST_SKIP() << "there is no Go at configuration";
  }

  /// A program in Go that asks for the lock, and keeps it until it is told to go.
  class Peer {
   public:
    Peer(EtcdServer& server, const std::string& kind, const std::string& key)
        : file_(server.folder() / ("peer-" + std::to_string(++last()))),
          process_({LATCHKEY_ETCD_RECIPE, server.address(), "hold", kind, key, file_},
                   file_ + ".log") {}

    [[nodiscard]] bool has_lock() const { return std::filesystem::exists(file_ + ".granted"); }
    /// It has begun to ask for the lock, and is not granted it within a while.
    [[nodiscard]] bool waits(EtcdServer& server, const std::string& key, std::size_t keys) const {
      if (!eventually([&] { return server.keys(key + '/').size() == keys; })) return false;
      // sleeps: nothing happens
      std::this_thread::sleep_for(200ms);
      return !has_lock();
    }
    [[nodiscard]] std::string lease() const {
      EXPECT_TRUE(eventually([&] { return std::filesystem::exists(file_ + ".waits"); }));
      std::string text;
      std::ifstream(file_ + ".waits") >> text;
      return text;
    }
    void go() const { std::ofstream(file_ + ".go").flush(); }
    int end() {
      go();
      return process_.wait();
    }

   private:
    static int& last() {
      static int number = 0;
      return number;
    }

    const std::string file_;
    Process process_;
  };

  [[nodiscard]] Peer go(const std::string& kind) { return Peer(server_, kind, key_); }
  /// Whether another process of latchkey is granted the lock.
  [[nodiscard]] bool takes(LockType type) const {
    return others_.lock(key_, type).try_acquire(0ms, 5s).has_value();
  }
  [[nodiscard]] std::size_t keys() const { return server_.keys(key_ + '/').size(); }

  EtcdServer& server_ = shared_etcd();
  const std::string key_ = "recipe/" + fresh_etcd_key();
  Locks locks_ = etcd_locks(server_.uri()), others_ = etcd_locks(server_.uri());
};

TEST_F(EtcdRecipe, AWriterInGoExcludesAll) {
  Peer writer = go("write");
  ASSERT_TRUE(eventually([&] { return writer.has_lock(); }));
  for (const LockType type : {READ, WRITE, REENTRANT, FAIR, FENCED}) {
    EXPECT_FALSE(takes(type)) << to_string(type);
  }
  EXPECT_EQ(locks_.inspect(key_).type, WRITE);
  EXPECT_TRUE(locks_.inspect(key_).holders.at(0).id.ends_with(writer.lease()));
  std::atomic<bool> granted = false;
  std::thread waiting([&] {
    const Hold hold = locks_.lock(key_, READ).acquire(10s, 5s);
    granted = true;
  });
  EXPECT_TRUE(eventually([&] { return keys() == 2; }));
  EXPECT_FALSE(granted);
  EXPECT_EQ(writer.end(), 0);
  waiting.join();
  EXPECT_TRUE(granted);
  EXPECT_EQ(keys(), 0U);
}

TEST_F(EtcdRecipe, AReaderInGoExcludesAllButReaders) {
  Peer reader = go("read");
  ASSERT_TRUE(eventually([&] { return reader.has_lock(); }));
  EXPECT_TRUE(takes(READ));
  for (const LockType type : {WRITE, REENTRANT, FAIR, FENCED}) {
    EXPECT_FALSE(takes(type)) << to_string(type);
  }
  EXPECT_EQ(locks_.inspect(key_).type, READ);
  std::atomic<bool> granted = false;
  std::thread waiting([&] {
    const Hold hold = locks_.lock(key_, WRITE).acquire(10s, 5s);
    granted = true;
  });
  EXPECT_TRUE(eventually([&] { return keys() == 2; }));
  EXPECT_FALSE(takes(READ)) << "behind the writer";
  EXPECT_FALSE(granted);
  EXPECT_EQ(reader.end(), 0);
  waiting.join();
  EXPECT_EQ(keys(), 0U);
}

TEST_F(EtcdRecipe, AReadHoldKeepsWritersInGoWaitingAndLetsReadersIn) {
  Hold hold = locks_.lock(key_, READ).acquire(1s, 20s);
  Peer reader = go("read");
  EXPECT_TRUE(eventually([&] { return reader.has_lock(); }));
  Peer writer = go("write");
  EXPECT_TRUE(writer.waits(server_, key_, 3));
  EXPECT_EQ(reader.end(), 0);
  EXPECT_TRUE(writer.waits(server_, key_, 2));
  EXPECT_TRUE(hold.release());
  EXPECT_TRUE(eventually([&] { return writer.has_lock(); }));
  EXPECT_EQ(writer.end(), 0);
}

TEST_F(EtcdRecipe, AWriteHoldKeepsAllInGoWaiting) {
  for (const char* const kind : {"read", "write", "mutex"}) {
    SCOPED_TRACE(kind);
    Hold hold = locks_.lock(key_, WRITE).acquire(1s, 20s);
    Peer peer = go(kind);
    EXPECT_TRUE(peer.waits(server_, key_, 2));
    EXPECT_TRUE(hold.release());
    EXPECT_TRUE(eventually([&] { return peer.has_lock(); }));
    EXPECT_EQ(peer.end(), 0);
  }
  EXPECT_EQ(keys(), 0U);
}

TEST_F(EtcdRecipe, APlainHoldKeepsWritersInGoWaiting) {
  Hold hold = locks_.lock(key_).acquire(1s, 20s);
  Peer writer = go("write");
  EXPECT_TRUE(writer.waits(server_, key_, 2));
  EXPECT_TRUE(hold.release());
  EXPECT_TRUE(eventually([&] { return writer.has_lock(); }));
  EXPECT_EQ(writer.end(), 0);
}

// RLock looks at the keys of writers alone, so it excludes no Mutex in Go either.
TEST_F(EtcdRecipe, AReaderInGoDoesNotWaitForPlainLocks) {
  const Hold hold = locks_.lock(key_).acquire(1s, 20s);
  Peer reader = go("read");
  EXPECT_TRUE(eventually([&] { return reader.has_lock(); }));
  EXPECT_EQ(reader.end(), 0);
}

TEST_F(EtcdRecipe, AReadHoldExcludesAMutexInGoBothWays) {
  Hold hold = locks_.lock(key_, READ).acquire(1s, 20s);
  Peer mutex = go("mutex");
  EXPECT_TRUE(mutex.waits(server_, key_, 2));
  EXPECT_FALSE(takes(READ)) << "behind the mutex";
  EXPECT_TRUE(hold.release());
  EXPECT_TRUE(eventually([&] { return mutex.has_lock(); }));
  EXPECT_FALSE(takes(READ));
  EXPECT_EQ(mutex.end(), 0);
  EXPECT_TRUE(takes(READ));
}

TEST_F(EtcdRecipe, AWriterThatBecomesAReaderLetsReadersInGoIn) {
  auto both = locks_.read_write(key_);
  Hold write = both.write().acquire(1s, 20s);
  Hold read = both.read().acquire(1s, 20s);
  Peer reader = go("read");
  EXPECT_TRUE(reader.waits(server_, key_, 2));
  EXPECT_TRUE(write.release());
  EXPECT_TRUE(eventually([&] { return reader.has_lock(); }));
  EXPECT_TRUE(read.release());
  EXPECT_FALSE(takes(WRITE));
  EXPECT_EQ(reader.end(), 0);
  EXPECT_EQ(keys(), 0U);
}

TEST_F(EtcdRecipe, AWriterThatBecomesAReaderKeepsAWriterInGoWaiting) {
  auto both = locks_.read_write(key_);
  Hold write = both.write().acquire(1s, 20s);
  Hold read = both.read().acquire(1s, 20s);
  Peer writer = go("write");
  EXPECT_TRUE(writer.waits(server_, key_, 2));
  EXPECT_TRUE(write.release());
  EXPECT_TRUE(writer.waits(server_, key_, 2)) << "a place behind the writer would let it in";
  EXPECT_TRUE(read.release());
  EXPECT_TRUE(eventually([&] { return writer.has_lock(); }));
  EXPECT_EQ(writer.end(), 0);
  EXPECT_EQ(keys(), 0U);
}

// The defect of the recipe: it looks only at the keys before its own, never at its own.
TEST_F(EtcdRecipe, InGoAWaiterWhoseSessionEndedIsGrantedTheLockThatAnotherHolds) {
  Hold hold = locks_.lock(key_, WRITE).acquire(1s, 20s);
  Peer waiter = go("write");
  EXPECT_TRUE(waiter.waits(server_, key_, 2));
  server_.ctl({"lease", "revoke", waiter.lease()});
  EXPECT_TRUE(hold.release());
  EXPECT_TRUE(eventually([&] { return waiter.has_lock(); })) << "Go has no defect any more";
  EXPECT_TRUE(takes(WRITE)) << "nobody holds the lock, by what is in the store";
  waiter.end();
}

TEST_F(EtcdRecipe, BothTakeTurnsAndNoWriteIsLost) {
  constexpr int seconds = 4, goroutines = 4, threads = 4;
  const std::string file = (server_.folder() / "number").string();
  const std::string log = (server_.folder() / "contend.log").string();
  std::ofstream(file) << 0;
  std::ofstream(log).flush();
  const auto number = [&] {
    int value = -1;
    std::ifstream(file) >> value;
    return value;
  };
  Process peer({LATCHKEY_ETCD_RECIPE, server_.address(), "contend", key_, file,
                std::to_string(goroutines), std::to_string(seconds)},
               log);
  std::atomic<int> written{0}, read{0};
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  std::vector<std::jthread> all;
  for (int index = 0; index < threads; ++index) {
    all.emplace_back([&, index] {
      const Locks locks = index % 2 == 0 ? locks_ : etcd_locks(server_.uri());
      for (int round = index; std::chrono::steady_clock::now() < end; ++round) {
        const bool writes = round % 4 == 0;
        const Hold hold = locks.lock(key_, writes ? WRITE : READ).acquire(20s, 10s);
        const int before = number();
        // sleeps: so that others would come in between
        std::this_thread::sleep_for(1ms);
        if (writes) {
          std::ofstream(file) << before + 1;
          ++written;
        } else {
          EXPECT_EQ(number(), before) << "somebody wrote during a READ";
          ++read;
        }
        EXPECT_FALSE(hold.lost());
      }
    });
  }
  all.clear();
  EXPECT_EQ(peer.wait(), 0);
  int written_in_go = 0;
  std::ifstream(log) >> written_in_go;
  EXPECT_GT(written_in_go, 0);
  EXPECT_GT(written, 0);
  EXPECT_GT(read, 0);
  EXPECT_EQ(number(), written + written_in_go);
  RecordProperty("written", written);
  RecordProperty("written_in_go", written_in_go);
  EXPECT_EQ(keys(), 0U);
}

}  // namespace
}  // namespace latchkey::tests
