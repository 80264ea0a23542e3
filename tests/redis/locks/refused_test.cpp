// A refused acquire is released, because a script may be refused after it wrote a key.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "support/recorder.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

class RedisRefused : public ::testing::Test {
 protected:
  /// Connects as a user that may run every command but this one.
  Locks without(std::string_view command) {
    const std::string rule = "-" + std::string(command);
    EXPECT_EQ(admin_({"ACL", "SETUSER", "app", "reset", "on", ">secret", "~*",
                      server_.all_channels(), "+@all", rule})
                  .text(),
              "OK");
    return Locks::connect("redis://app:secret@127.0.0.1:" + std::to_string(server_.port()),
                          {.command_timeout = 1s});
  }
  long long count() { return admin_({"DBSIZE"}).integer(); }

  RedisServer server_;
  RedisClient admin_ = server_.client();
};

TEST_F(RedisRefused, ARefusedAcquireLeavesNoLockWithoutATtl) {
  const Locks locks = without("pexpire");
  for (const LockType type :
       {LockType::REENTRANT, LockType::FENCED, LockType::FAIR, LockType::READ, LockType::WRITE}) {
    SCOPED_TRACE(to_string(type));
    try {
      static_cast<void>(locks.lock("k", type).try_acquire(0ms, 60s));
      ADD_FAILURE() << "granted";
    } catch (const BackendRefused& error) {
      EXPECT_NE(std::string_view(error.what()).find("+pexpire"), std::string_view::npos)
          << error.what();
    }
    EXPECT_EQ(admin_({"EXISTS", "k"}).integer(), 0);
  }
}

// The READ's timeout was written before its field was refused; with a lease of a minute.
TEST_F(RedisRefused, AnAcquireRefusedMidwayIsReleased) {
  const Locks locks = without("hset");
  EXPECT_THROW(static_cast<void>(locks.lock("k", LockType::READ).try_acquire(0ms, 60s)),
               BackendRefused);
  EXPECT_TRUE(eventually([&] { return count() == 0; }));
}

// The first two members were taken before the third was refused.
TEST_F(RedisRefused, AllKeysAreReleasedIfOneIsRefused) {
  const Locks locks = without("set");
  Lock all = locks.all_of({locks.lock("{k}:1"), locks.lock("{k}:2", LockType::WRITE),
                           locks.lock("{k}:3", LockType::READ)});
  EXPECT_THROW(static_cast<void>(all.try_acquire(0ms, 60s)), BackendRefused);
  EXPECT_TRUE(eventually([&] { return count() == 0; }));
}

}  // namespace
}  // namespace latchkey::tests
