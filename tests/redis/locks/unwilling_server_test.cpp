// A server that is up and for some seconds does nothing for a client: it cannot save its data
// (MISCONF), still loads them (LOADING), or takes no more connections (maxclients).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <latchkey/count_down_latch.hpp>
#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/semaphore.hpp>

#include "support/recorder.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using enum LockType;
using ::testing::HasSubstr;

enum class Trouble : std::uint8_t { MISCONF, LOADING, MAXCLIENTS };

/// The part of a call's error by which an operator finds the cure.
constexpr std::string_view reason_of(Trouble trouble) {
  switch (trouble) {
    case Trouble::MISCONF: return "the server cannot save its data and accepts no writes (MISCONF ";
    case Trouble::LOADING: return "the server is still loading its data (LOADING ";
    case Trouble::MAXCLIENTS: return "the server takes no more clients: ERR max number of clients";
  }
  return "";
}

class UnwillingServer : public ::testing::TestWithParam<Trouble> {
 protected:
  /// How long the trouble lasts. A hold with this watchdog is to be renewed meanwhile, and lives
  /// on.
  static constexpr milliseconds trouble = 3'500ms, period = 9s;
  static constexpr LockType types[] = {REENTRANT, FENCED, FAIR, READ, WRITE};

  [[nodiscard]] Locks connect(Recorder* recorder = nullptr) const {
    return Locks::connect(server_.tcp_uri(),
                          {.watchdog = period, .command_timeout = 1s, .listener = recorder});
  }
  /// Calls `body` while the server does nothing for a client, and returns when it serves again.
  void endure(const std::function<void()>& body) {
    switch (GetParam()) {
      case Trouble::MISCONF: return endure_unsaved(body);
      case Trouble::LOADING: return endure_loading(body);
      case Trouble::MAXCLIENTS:
        control_({"CONFIG", "SET", "maxclients", "1"});
        control_({"CLIENT", "KILL", "TYPE", "pubsub"});
        control_({"CLIENT", "KILL", "TYPE", "normal"});
        body();
        // sleeps: the trouble lasts for longer than one attempt
        std::this_thread::sleep_for(trouble);
        control_({"CONFIG", "SET", "maxclients", "1000"});
    }
  }
  /// The keys, without the fencing tokens.
  [[nodiscard]] std::vector<std::string> keys() {
    std::vector<std::string> all = control_({"KEYS", "*"}).list();
    std::erase_if(all, [](const std::string& key) {
      return key.starts_with("redisson_lock_token:") || key.starts_with("data:");
    });
    return all;
  }
  void expect_nothing_is_left(const Locks& locks, std::vector<std::string> expected = {}) {
    EXPECT_TRUE(eventually([&] { return keys() == expected; })) << ::testing::PrintToString(keys());
    locks.close(1s);
    EXPECT_TRUE(eventually([&] { return control_({"PUBSUB", "CHANNELS"}).list().empty(); }));
  }

  RedisServer server_{{.config = {"save 3600 1", "key-load-delay 1000",
                                  "loading-process-events-interval-bytes 1024"}}};
  RedisClient control_ = server_.client();

 private:
  // A snapshot is renamed to this name at its end. A folder has it, so that fails.
  void endure_unsaved(const std::function<void()>& body) {
    const auto snapshot_is = [this](std::string_view status) {
      return eventually([&] {
        const std::string text = control_({"INFO", "persistence"}).text();
        const auto says = [&](const std::string& line) {
          return text.find(line) != std::string::npos;
        };
        return says("rdb_bgsave_in_progress:0") &&
               says("rdb_last_bgsave_status:" + std::string(status));
      });
    };
    std::filesystem::create_directory(server_.folder() / "dump.rdb");
    control_({"BGSAVE"});
    ASSERT_TRUE(snapshot_is("err"));
    body();
    std::this_thread::sleep_for(trouble);  // sleeps: the trouble lasts for longer than one attempt
    std::filesystem::remove(server_.folder() / "dump.rdb");
    control_({"BGSAVE"});
    ASSERT_TRUE(snapshot_is("ok"));
  }
  // It takes a millisecond for each key.
  void endure_loading(const std::function<void()>& body) {
    control_({"EVAL", "for n = 1, ARGV[1] do redis.call('SET', 'data:' .. n, '') end", "0",
              std::to_string(trouble.count())});
    control_({"SAVE"});
    server_.kill();
    body();
    server_.start();
    control_ = server_.client();
  }
};

// Each is to be renewed once meanwhile.
TEST_P(UnwillingServer, HoldsAreRenewedAfterwards) {
  Recorder recorder;
  const Locks locks = connect(&recorder);
  std::vector<Hold> holds;
  for (const LockType type : types) {
    holds.push_back(locks.lock(std::string(to_string(type)), type).acquire(forever));
  }
  holds.push_back(locks.semaphore("permits", 3).acquire(2, forever));
  endure([] {});
  EXPECT_TRUE(eventually([&] {
    return std::ranges::all_of(
        holds, [](const Hold& hold) { return hold.remaining() > period - period / 3; });
  })) << "renewed since it serves again";
  for (Hold& hold : holds) {
    EXPECT_FALSE(hold.lost()) << hold.key();
    EXPECT_TRUE(hold.release()) << hold.key();
  }
  ASSERT_TRUE(locks.flush(patience));
  EXPECT_EQ(recorder.count(Event::Kind::lost), 0U);
  expect_nothing_is_left(locks, {"permits"});
}

TEST_P(UnwillingServer, AHoldWhoseLeaseEndsMeanwhileIsLostOnce) {
  Recorder recorder;
  const Locks locks = connect(&recorder);
  std::vector<Hold> holds;
  for (const LockType type : types) {
    holds.push_back(locks.lock(std::string(to_string(type)), type).acquire(0ms, 1s));
  }
  holds.push_back(locks.semaphore("permits", 3).acquire(2, 0ms, 1s));
  endure([] {});
  EXPECT_TRUE(recorder.await(Event::Kind::lost, holds.size()));
  for (Hold& hold : holds) {
    EXPECT_TRUE(hold.lost()) << hold.key();
    EXPECT_FALSE(hold.release()) << hold.key();
  }
  for (const LockType type : types) {
    EXPECT_TRUE(locks.lock(std::string(to_string(type)), type).acquire(patience, 5s).release());
  }
  EXPECT_TRUE(locks.semaphore("permits", 3).acquire(3, patience, 5s).release());
  ASSERT_TRUE(locks.flush(patience));
  EXPECT_EQ(recorder.count(Event::Kind::lost), holds.size());
  expect_nothing_is_left(locks, {"permits"});
}

// A call for each type that begins meanwhile, and one that waits for a lock that is held before and
// after.
TEST_P(UnwillingServer, WaitsGoOnAndAreGrantedAfterwards) {
  Recorder recorder;
  const Locks locks = connect(&recorder), other = connect();
  Hold busy = other.lock("busy").acquire(0ms, 60s),
       taken = other.semaphore("permits", 3).acquire(3, forever);
  std::vector<std::future<bool>> calls;
  const auto call = [&](auto acquire) {
    calls.push_back(std::async(std::launch::async, [acquire] { return acquire().release(); }));
  };
  call([&] { return locks.lock("busy").acquire(patience, 30s); });
  call([&] { return locks.semaphore("permits", 3).acquire(2, patience, 30s); });
  ASSERT_TRUE(recorder.await(Event::Kind::waiting, 2));
  endure([&] {
    for (const LockType type : types) {
      call([&locks, type] {
        return locks.lock(std::string(to_string(type)), type).acquire(patience, 30s);
      });
    }
    call([&] { return locks.semaphore("more permits", 3).acquire(2, patience, 30s); });
  });
  EXPECT_TRUE(busy.release());
  EXPECT_TRUE(taken.release());
  for (std::future<bool>& each : calls) EXPECT_TRUE(each.get());
  other.close(1s);
  expect_nothing_is_left(locks, keys().size() == 2 ? keys() : std::vector<std::string>{});
}

// A release that the server refuses is repeated.
TEST_P(UnwillingServer, WhatIsReleasedMeanwhileIsFreeAfterwards) {
  const Locks locks = connect(), other = connect();
  std::vector<Hold> holds;
  for (const LockType type : types) {
    holds.push_back(locks.lock(std::string(to_string(type)), type).acquire(0ms, 60s));
  }
  holds.push_back(locks.semaphore("permits", 3).acquire(3, 0ms, 60s));
  endure([&] { holds.clear(); });
  const auto began = std::chrono::steady_clock::now();
  for (const LockType type : types) {
    EXPECT_TRUE(other.lock(std::string(to_string(type)), type).acquire(patience, 5s).release());
  }
  EXPECT_TRUE(other.semaphore("permits", 3).acquire(3, patience, 5s).release());
  EXPECT_LT(std::chrono::steady_clock::now() - began, 30s) << "before the leases end";
  other.close(1s);
  expect_nothing_is_left(locks, {"permits"});
}

TEST_P(UnwillingServer, AWaitForALatchGoesOnAndEndsAfterwards) {
  const Locks locks = connect(), other = connect();
  const CountDownLatch latch = locks.count_down_latch("latch");
  ASSERT_TRUE(latch.try_set_count(1));
  const std::string channel = "redisson_countdownlatch__channel__{latch}";
  auto waiter = std::async(std::launch::async, [&] { return latch.wait_for(patience); });
  ASSERT_TRUE(eventually([&] {
    return control_({"PUBSUB", "NUMSUB", channel}).list() == std::vector<std::string>{channel, "1"};
  }));
  endure([] {});
  EXPECT_TRUE(other.lock("it serves").acquire(patience, 5s).release());
  EXPECT_EQ(waiter.wait_for(0s), std::future_status::timeout);
  EXPECT_EQ(other.count_down_latch("latch").count_down(), 0U);
  EXPECT_TRUE(waiter.get());
  other.close(1s);
  expect_nothing_is_left(locks);
}

// Nobody holds anything: to call it busy would drop the work of an on_timeout(skip) in silence.
TEST_P(UnwillingServer, AWaitThatEndsMeanwhileIsUnavailableAndSaysWhy) {
  const Locks locks = connect();
  std::vector<std::future<std::string>> calls;
  const auto call = [&](auto acquire) {
    calls.push_back(std::async(std::launch::async, [acquire]() -> std::string {
      try {
        return acquire() ? "granted" : "busy";
      } catch (const BackendUnavailable& error) {
        return std::string("unavailable: ") + error.what();
      } catch (const Error& error) {
        return std::string("another error: ") + error.what();
      }
    }));
  };
  endure([&] {
    for (int thread = 0; thread < 4; ++thread) {
      for (const LockType type : types) {
        call([&locks, type] {
          return locks.lock(std::string(to_string(type)), type).try_acquire(2s, 30s);
        });
      }
      call([&] { return locks.semaphore("permits", 3).try_acquire(1, 2s, 30s); });
    }
  });
  for (std::future<std::string>& each : calls) {
    const std::string text = each.get();
    EXPECT_THAT(text, ::testing::StartsWith("unavailable: "));
    EXPECT_THAT(text, HasSubstr(std::string(reason_of(GetParam()))));
  }
  expect_nothing_is_left(locks);
}

TEST_P(UnwillingServer, AnAttemptWithoutAWaitIsUnavailable) {
  const Locks locks = connect();
  endure([&] {
    for (const LockType type : types) {
      Lock lock = locks.lock(std::string(to_string(type)), type);
      EXPECT_THROW(static_cast<void>(lock.try_acquire(0ms, 30s)), BackendUnavailable);
    }
    EXPECT_THROW(static_cast<void>(locks.semaphore("permits", 3).try_acquire(1, 0ms, 30s)),
                 BackendUnavailable);
  });
  expect_nothing_is_left(locks);
}

INSTANTIATE_TEST_SUITE_P(Troubles, UnwillingServer,
                         ::testing::Values(Trouble::MISCONF, Trouble::LOADING, Trouble::MAXCLIENTS),
                         [](const auto& trouble) -> std::string {
                           switch (trouble.param) {
                             case Trouble::MISCONF: return "MISCONF";
                             case Trouble::LOADING: return "LOADING";
                             case Trouble::MAXCLIENTS: return "MAXCLIENTS";
                           }
                           return "";
                         });

}  // namespace
}  // namespace latchkey::tests
