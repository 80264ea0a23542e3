// Held keys are watched on a real server: a hold that somebody takes away is lost long before its
// next check.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <latchkey/locks.hpp>

#include "support/event_counter.hpp"
#include "support/recorder.hpp"
#include "support/servers/fault_proxy.hpp"
#include "support/servers/redis_server.hpp"
#include "support/stalls.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using enum LockType;

class RedisWatch : public ::testing::Test {
 protected:
  /// Each hold has this lease. Without a watch its loss is known after a third of it.
  static constexpr auto lease = 30s;

  [[nodiscard]] Locks connect(const std::string& uri, Options options = {}) {
    options.listener = &recorder_;
    return Locks::connect(uri, options);
  }
  /// How many keys the server watches, for each connection.
  long long watched() {
    const std::string text = client_({"INFO", "stats"}).text();
    const std::string label = "tracking_total_items:";
    return std::stoll(text.substr(text.find(label) + label.size()));
  }
  bool await_watched(long long count) {
    return eventually([&] { return watched() >= count; });
  }
  /// Whether `hold` is known as lost within two seconds after `take_away`.
  ::testing::AssertionResult is_lost_at_once(const Hold& hold,
                                             const std::function<void()>& take_away) {
    const Stalls stalls;
    const auto begin = std::chrono::steady_clock::now();
    take_away();
    if (!eventually([&] { return hold.lost(); }))
      return ::testing::AssertionFailure() << "not lost";
    const auto took = std::chrono::steady_clock::now() - begin - stalls.total();
    if (took < 2s) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "lost after " << took / 1ms << " ms";
  }
  /// The URI for a user that may do everything but what `rule` forbids.
  std::string uri_of_user(std::string_view rule) {
    EXPECT_EQ(client_({"ACL", "SETUSER", "app", "reset", "on", ">secret", "~*",
                       server_.all_channels(), "+@all", rule})
                  .text(),
              "OK");
    return "redis://app:secret@127.0.0.1:" + std::to_string(server_.port());
  }

  RedisServer server_;
  RedisClient client_ = server_.client();
  Recorder recorder_{false};
};

TEST_F(RedisWatch, ADeletedKeyIsLostAtOnceWhateverItsType) {
  const Locks locks = connect(server_.unix_uri());
  EXPECT_TRUE(locks.capabilities().watches);
  for (const LockType type : {REENTRANT, FENCED, FAIR, READ, WRITE}) {
    for (const Lease& each : {Lease(watchdog), Lease(lease)}) {
      const std::string key =
          std::string(to_string(type)) + (each.is_watchdog() ? ":watchdog" : ":fixed");
      SCOPED_TRACE(key);
      const long long so_far = watched();
      const Hold hold = locks.lock(key, type).acquire(0ms, each);
      ASSERT_TRUE(await_watched(so_far + 1));
      EXPECT_FALSE(hold.lost());
      EXPECT_TRUE(is_lost_at_once(hold, [&] { client_({"DEL", key}); }));
    }
  }
}

TEST_F(RedisWatch, AForcedReleaseAndFlushallAreLostAtOnce) {
  const Locks locks = connect(server_.unix_uri());
  const Locks others = Locks::connect(server_.unix_uri());
  const long long idle = watched();
  const Hold forced = locks.lock("forced").acquire(0ms, lease);
  const Hold flushed = locks.lock("flushed").acquire(0ms, lease);
  ASSERT_TRUE(await_watched(idle + 2));
  EXPECT_TRUE(is_lost_at_once(forced, [&] { others.force_release("forced"); }));
  EXPECT_FALSE(flushed.lost());
  EXPECT_TRUE(is_lost_at_once(flushed, [&] { client_({"FLUSHALL"}); }));
}

TEST_F(RedisWatch, AStopTokenAndTheListenerFollow) {
  const Locks locks = connect(server_.unix_uri());
  const long long idle = watched();
  const Hold hold = locks.lock("k").acquire(0ms, lease);
  const std::stop_token stop = hold.stop_token();
  ASSERT_TRUE(await_watched(idle + 1));
  client_({"DEL", "k"});
  EXPECT_TRUE(eventually([&] { return stop.stop_requested(); }));
  EXPECT_TRUE(recorder_.await(Event::Kind::lost));
}

TEST_F(RedisWatch, AHoldThatIsLostBeforeItIsWatchedIsKnownByThatCheck) {
  const Locks locks = connect(server_.unix_uri());
  const Hold hold = locks.lock("k").acquire(0ms, lease);
  EXPECT_TRUE(is_lost_at_once(hold, [&] { client_({"DEL", "k"}); }));
}

TEST_F(RedisWatch, ManyHoldsAreLostTogetherByFlushall) {
  constexpr int count = 1'000;
  EventCounter events;
  std::vector<Hold> holds;
  const Locks locks = Locks::connect(server_.unix_uri(), {.listener = &events});
  const long long idle = watched();
  for (int number = 0; number < count; ++number) {
    holds.push_back(locks.lock("k" + std::to_string(number)).acquire(1s, lease));
  }
  ASSERT_TRUE(await_watched(idle + count));
  client_({"CONFIG", "RESETSTAT"});
  client_({"FLUSHALL"});
  ASSERT_TRUE(events.await(Event::Kind::lost, count));
  EXPECT_LE(client_.calls("evalsha") + client_.calls("eval"), count / 20) << "sent together";
}

TEST_F(RedisWatch, OwnRenewalsCauseNoChecks) {
  Recorder recorder;
  const Locks locks =
      Locks::connect(server_.unix_uri(), {.watchdog = 900ms, .listener = &recorder});
  const long long idle = watched();
  const Hold hold = locks.lock("k").acquire(forever);
  ASSERT_TRUE(await_watched(idle + 1));
  const std::size_t before = recorder.count(Event::Kind::renewed);
  client_({"CONFIG", "RESETSTAT"});
  ASSERT_TRUE(recorder.await(Event::Kind::renewed, before + 4));
  // The reply to the first may have been on its way at the reset, and the next may be on its way.
  const long long checks = client_.calls("evalsha") + client_.calls("eval");
  EXPECT_LE(checks, static_cast<long long>(recorder.count(Event::Kind::renewed) - before) + 1);
  EXPECT_LE(client_.calls("exists"), checks) << "each renewal has the key watched anew";
  EXPECT_TRUE(is_lost_at_once(hold, [&] { client_({"DEL", "k"}); }));
}

TEST_F(RedisWatch, AnExtendedHoldIsStillWatched) {
  const Locks locks = connect(server_.unix_uri());
  const long long idle = watched();
  Hold hold = locks.lock("k").acquire(0ms, lease);
  ASSERT_TRUE(await_watched(idle + 1));
  ASSERT_TRUE(hold.extend(60s));
  EXPECT_TRUE(is_lost_at_once(hold, [&] { client_({"DEL", "k"}); }));
}

TEST_F(RedisWatch, AReleaseEndsTheWatch) {
  const Locks locks = connect(server_.unix_uri());
  const long long idle = watched();
  Hold hold = locks.lock("k").acquire(0ms, lease);
  ASSERT_TRUE(await_watched(idle + 1));
  ASSERT_TRUE(hold.release());
  EXPECT_EQ(watched(), idle);
}

TEST_F(RedisWatch, AChangeThatLeavesTheHoldIsNoLoss) {
  const Locks locks = connect(server_.unix_uri());
  const long long idle = watched();
  Hold hold = locks.lock("k").acquire(0ms, lease);
  ASSERT_TRUE(await_watched(idle + 1));
  client_({"CONFIG", "RESETSTAT"});
  client_({"PEXPIRE", "k", "29000"});
  EXPECT_TRUE(eventually([&] { return client_.calls("evalsha") + client_.calls("eval") > 0; }));
  EXPECT_TRUE(hold.release());
  EXPECT_EQ(recorder_.count(Event::Kind::lost), 0U);
}

TEST_F(RedisWatch, ANewConnectionWatchesAnew) {
  FaultProxy proxy(server_.port());
  const Locks locks = connect(proxy.uri());
  const long long idle = watched();
  const Hold hold = locks.lock("k").acquire(0ms, lease);
  ASSERT_TRUE(await_watched(idle + 1));
  proxy.cut();
  ASSERT_TRUE(recorder_.await(Event::Kind::connection_restored));
  // The keys of the old connection stay counted; the new one adds the probe and the key.
  ASSERT_TRUE(await_watched(idle + 3));
  EXPECT_FALSE(hold.lost());
  EXPECT_TRUE(is_lost_at_once(hold, [&] { client_({"DEL", "k"}); }));
}

TEST_F(RedisWatch, AUserThatMayNotIsToldOnceAndLocks) {
  for (const std::string_view rule : {"-client|tracking", "-client|caching", "-exists"}) {
    if (server_.version() < 700 && rule != "-exists") continue;  // it forbids all of CLIENT
    SCOPED_TRACE(rule);
    recorder_.clear();
    const Locks locks = connect(uri_of_user(rule));
    EXPECT_FALSE(locks.capabilities().watches);
    ASSERT_TRUE(recorder_.await(Event::Kind::warning));
    EXPECT_THAT(recorder_.events().back().text,
                AllOf(HasSubstr("refuses to watch keys"), HasSubstr("NOPERM")));
    // EXISTS is needed to acquire, too.
    if (rule == "-exists") continue;
    const Hold hold = locks.lock("k").acquire(0ms, 900ms);
    client_({"DEL", "k"});
    EXPECT_TRUE(eventually([&] { return hold.lost(); })) << "by the next check";
    EXPECT_EQ(recorder_.count(Event::Kind::warning), 1U);
  }
}

// The commands that docs/redis.md lists for each connection, REENTRANT and watched holds.
TEST_F(RedisWatch, TheDocumentedPermissionsAreEnough) {
  if (server_.version() < 700) GTEST_SKIP() << "needs rules of subcommands: Redis 7";
  EXPECT_EQ(client_({"ACL",
                     "SETUSER",
                     "app",
                     "reset",
                     "on",
                     ">secret",
                     "~*",
                     "&*",
                     "+hello",
                     "+info",
                     "+ping",
                     "+select",
                     "+client|setname",
                     "+client|kill",
                     "+eval",
                     "+evalsha",
                     "+subscribe",
                     "+unsubscribe",
                     "+exists",
                     "+hset",
                     "+hdel",
                     "+hexists",
                     "+hscan",
                     "+pexpire",
                     "+pttl",
                     "+publish",
                     "+client|tracking",
                     "+client|caching"})
                .text(),
            "OK");
  const Locks locks = connect("redis://app:secret@127.0.0.1:" + std::to_string(server_.port()));
  EXPECT_TRUE(locks.capabilities().watches);
  const long long idle = watched();
  const Hold hold = locks.lock("k").acquire(0ms, lease);
  ASSERT_TRUE(await_watched(idle + 1));
  EXPECT_TRUE(is_lost_at_once(hold, [&] { client_({"DEL", "k"}); }));
  EXPECT_EQ(recorder_.count(Event::Kind::warning), 0U);
}

TEST_F(RedisWatch, TheOptionSwitchesItOff) {
  client_({"CONFIG", "RESETSTAT"});
  const Locks locks = connect(server_.unix_uri(), {.watch_holds = false});
  EXPECT_FALSE(locks.capabilities().watches);
  EXPECT_EQ(recorder_.count(Event::Kind::warning), 0U);
  const Hold hold = locks.lock("k").acquire(0ms, 2s);
  client_({"DEL", "k"});
  EXPECT_TRUE(eventually([&] { return hold.lost(); })) << "by the next check";
  EXPECT_EQ(client_.calls("client|tracking") + client_.calls("client|caching"), 0);
}

}  // namespace
}  // namespace latchkey::tests
