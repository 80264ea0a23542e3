// Options::announce: a LockTimeout names the holder's method, process and host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <vector>

#include <latchkey/decorate.hpp>
#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "support/recorder.hpp"
#include "support/servers/redis_client.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class RedisAnnounce : public ::testing::Test {
 protected:
  [[nodiscard]] Locks connect(bool announce, Listener* listener = nullptr) const {
    return Locks::connect(server_.unix_uri(),
                          {.watchdog = 300ms, .announce = announce, .listener = listener});
  }
  static std::string holder_as_seen_by(const Locks& locks) {
    try {
      static_cast<void>(locks.lock("k").acquire(0ms));
    } catch (const LockTimeout& error) {
      EXPECT_THAT(error.what(), HasSubstr("; held by " + error.holder()));
      return error.holder();
    }
    return "nobody";
  }
  /// Keys of any kind that are there.
  [[nodiscard]] std::vector<std::string> keys() { return client_({"KEYS", "*"}).list(); }

  RedisServer server_;
  RedisClient client_ = server_.client();
};

std::string process() {
  std::string host(256, '\0');
  EXPECT_EQ(::gethostname(host.data(), host.size() - 1), 0);
  return "on " + std::string(host.c_str()) + ", process " + std::to_string(::getpid()) + " (" +
         program_invocation_short_name + "), since 20";
}

template <class Body>
auto work(const Locks& locks, LockType type, Body&& body) {
  return LOCKED("k", type, 3s, 30s).in(locks).named("work") AROUND() { return body(); };
}

TEST_F(RedisAnnounce, ALockTimeoutNamesMethodHostAndProcess) {
  const Locks here = connect(true), there = connect(true);
  const std::string holder = work(there, LockType::WRITE, [&] { return holder_as_seen_by(here); });
  EXPECT_THAT(holder, HasSubstr("work (announce_test.cpp:"));
  EXPECT_THAT(holder, AllOf(HasSubstr(") " + process()), HasSubstr("Z, owner ")));
  const Hold plain = there.lock("k").acquire(0ms, 30s);
  EXPECT_THAT(holder_as_seen_by(here), StartsWith("a program " + process()))
      << "no LOCKED holds it";
}

// The log had the id of the holder only.
TEST_F(RedisAnnounce, ATimeoutEventNamesTheHolderToo) {
  Recorder recorder;
  const Locks here = connect(true, &recorder), there = connect(true);
  work(there, LockType::WRITE, [&] {
    EXPECT_FALSE(here.lock("k").try_acquire(50ms));
    EXPECT_THROW(static_cast<void>(here.lock("k").acquire(50ms)), LockTimeout);
    EXPECT_FALSE(here.lock("k").try_acquire());
    return 0;
  });
  ASSERT_TRUE(here.flush(patience));
  const auto timeouts = recorder.of(Event::Kind::timeout);
  ASSERT_EQ(timeouts.size(), 2U);
  for (const Event& event : timeouts) {
    EXPECT_THAT(event.holder, AllOf(HasSubstr("work (announce_test.cpp:"), HasSubstr(process())));
    EXPECT_EQ(event.key, "k");
    EXPECT_GE(event.waited, 50ms);
    EXPECT_TRUE(event.contended.has_value());
  }
  EXPECT_EQ(recorder.count(Event::Kind::busy), 1U) << "a job that is skipped asks nothing more";
  EXPECT_EQ(recorder.count(Event::Kind::attempt), 3U);
}

TEST_F(RedisAnnounce, OnlyProcessesThatAnnounceReadAnnouncements) {
  const Locks silent = connect(false), speaking = connect(true);
  {
    const Hold hold = speaking.lock("k").acquire(0ms, 30s);
    EXPECT_THAT(holder_as_seen_by(silent), Not(HasSubstr("process")));
    EXPECT_THAT(silent.inspect("k").holders.at(0).announced, StartsWith("a program " + process()));
  }
  const Hold hold = silent.lock("k").acquire(0ms, 30s);
  EXPECT_EQ(holder_as_seen_by(speaking), silent.inspect("k").holders.at(0).id);
}

TEST_F(RedisAnnounce, EveryTypeIsAnnouncedAndLeavesNoKey) {
  const Locks here = connect(true), there = connect(true);
  for (const LockType type :
       {LockType::REENTRANT, LockType::FAIR, LockType::READ, LockType::WRITE}) {
    const LockInfo info = work(there, type, [&] { return here.inspect("k"); });
    ASSERT_EQ(info.holders.size(), 1U) << to_string(type);
    EXPECT_THAT(info.holders[0].announced, HasSubstr("work (announce_test.cpp:"));
    EXPECT_THAT(keys(), IsEmpty()) << to_string(type);
  }
  work(there, LockType::WRITE, [&] {
    EXPECT_EQ(holder_as_seen_by(here).find("work ("), 0U);
    return 0;
  });
  EXPECT_THAT(keys(), IsEmpty()) << "the one who did not get it had announced himself too";
}

TEST_F(RedisAnnounce, TheWatchdogRenewsTheAnnouncement) {
  Recorder recorder;
  const Locks here = connect(true), there = connect(true, &recorder);
  const Hold hold = there.lock("k").acquire(forever);
  ASSERT_TRUE(recorder.await(Event::Kind::renewed, 5)) << "five thirds of the first lease";
  EXPECT_THAT(holder_as_seen_by(here), HasSubstr(process()));
}

TEST_F(RedisAnnounce, LocksWorkWithoutAnnouncementsIfTheServerForbidsThem) {
  ASSERT_FALSE(client_({"ACL", "SETUSER", "default", "resetkeys", "~k", "~redisson_*"}).is_error());
  const Locks here = connect(true), there = connect(true);
  const Hold hold = there.lock("k").acquire(0ms, 30s);
  EXPECT_EQ(holder_as_seen_by(here), here.inspect("k").holders.at(0).id);
  EXPECT_EQ(here.inspect("k").holders.at(0).announced, "");
}

TEST_F(RedisAnnounce, AnAnnouncementIsMadeAfterTheScriptsWereFlushed) {
  const Locks here = connect(true), there = connect(true);
  work(there, LockType::WRITE, [] { return 0; });
  ASSERT_FALSE(client_({"SCRIPT", "FLUSH"}).is_error());
  const std::string holder = work(there, LockType::WRITE, [&] { return holder_as_seen_by(here); });
  EXPECT_THAT(holder, HasSubstr(process()));
  EXPECT_THAT(keys(), IsEmpty());
}

}  // namespace
}  // namespace latchkey::tests
