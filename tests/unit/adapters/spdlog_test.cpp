// SpdlogListener: one line for each event, at its level.
#include <latchkey/adapters/spdlog.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/ostream_sink.h>

#include <chrono>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <latchkey/decorate.hpp>
#include <latchkey/error.hpp>
#include <latchkey/testing/manual_clock.hpp>
#include <latchkey/testing/scoped_locks.hpp>

#include "support/linked_backend.hpp"
#include "support/recorder.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

struct Log {
  std::ostringstream text{};
  std::shared_ptr<spdlog::logger> logger = std::make_shared<spdlog::logger>(
      "locks", std::make_shared<spdlog::sinks::ostream_sink_mt>(text));

  explicit Log(spdlog::level::level_enum level) {
    logger->set_pattern("%l %v");
    logger->set_level(level);
  }
  std::vector<std::string> lines() const {
    std::vector<std::string> all;
    std::istringstream in(text.str());
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
  }
};

template <class Body>
void work(Body&& body) {
  LOCKED("work", LockType::FENCED, 3s, 10s) AROUND() { body(); };
}

TEST(SpdlogListener, WritesALineForEachEvent) {
  Log log(spdlog::level::trace);
  SpdlogListener listener(log.logger);
  latchkey::testing::ManualClock clock;
  {
    const latchkey::testing::ScopedLocks locks({.clock = &clock, .listener = &listener});
    work([&] { clock.advance(1500us); });
  }
  const std::string who = "FENCED 'work' in .*work by owner [0-9]+";
  EXPECT_THAT(log.lines(),
              ElementsAre(MatchesRegex("trace attempt " + who),
                          MatchesRegex("debug granted " + who + ", waited 0.000 ms, token [0-9]+"),
                          MatchesRegex("debug released " + who +
                                       ", held 1.500 ms, left 9898.500 ms, token [0-9]+")));
}

TEST(SpdlogListener, WarnsOfTimeoutsAndLosses) {
  Log log(spdlog::level::warn);
  SpdlogListener listener(log.logger);
  EXPECT_TRUE(listener.wants_everything());
  latchkey::testing::ManualClock clock;
  {
    const latchkey::testing::ScopedLocks locks({.clock = &clock, .listener = &listener});
    const auto lose = [&] {
      const Locks other = locks.locks().with_owner(Owner::make());
      EXPECT_FALSE(other.lock("work").try_acquire()) << "busy, which is no warning";
      {
        const auto skipping = clock.skip_waits();
        EXPECT_FALSE(other.lock("work").try_acquire(1s));
      }
      clock.advance(9s);
    };
    EXPECT_THROW(work(lose), LockLost);
    locks.locks().lock("not mine").unlock();
  }
  EXPECT_THAT(
      log.lines(),
      ElementsAre(
          MatchesRegex("warning timeout REENTRANT 'work' by owner .*, waited 1000.000 ms, held "
                       "by .*spdlog_test.cpp:.*"),
          MatchesRegex("error lost FENCED 'work' .*, held 10000.000 ms, token .*: its "
                       "lease ended"),
          StartsWith("error unlock_error REENTRANT 'not mine' by owner ")));
}

TEST(SpdlogListener, WritesAnOutage) {
  Log log(spdlog::level::info);
  SpdlogListener listener(log.logger);
  tests::Faults faults;
  {
    auto backend = std::make_unique<tests::LinkedBackend>(
        faults, std::vector<Connection>{{"node 1", true, {}}, {"node 2", false, "no route"}});
    tests::LinkedBackend& link = *backend;
    const Locks locks(std::move(backend), {.listener = &listener});
    Hold hold = locks.lock("k").acquire(0ms, 10s);
    faults.silent = true;
    EXPECT_THROW(hold.release(), ReleaseUnconfirmed);
    link.notify(Notification::Kind::link_down, "node 1", "the cable");
    EXPECT_THROW(static_cast<void>(locks.lock("other").try_acquire()), BackendUnavailable);
    faults.silent = false;
    faults.refusing = true;
    EXPECT_THROW(static_cast<void>(locks.lock("third").try_acquire()), BackendRefused);
    link.notify(Notification::Kind::link_up, "node 1");
    ASSERT_TRUE(locks.flush(tests::patience));
  }
  EXPECT_THAT(
      log.lines(),
      ElementsAre("info connected node 1 of linked",
                  "error connection_lost node 2 of linked: no route",
                  MatchesRegex("error release_unconfirmed REENTRANT 'k' by owner [0-9]+, held .* "
                               "ms: the line is dead"),
                  "error connection_lost node 1 of linked: the cable",
                  MatchesRegex("error unavailable REENTRANT 'other' by owner [0-9]+, waited .* ms: "
                               "the line is dead"),
                  MatchesRegex("error refused REENTRANT 'third' by owner [0-9]+, waited .* ms: not "
                               "allowed"),
                  "warning connection_restored node 1 of linked"));
}

TEST(SpdlogListener, WantsOnlyLossesAtTheErrorLevel) {
  const Log log(spdlog::level::err);
  EXPECT_FALSE(SpdlogListener(log.logger).wants_everything());
  EXPECT_THROW(SpdlogListener(nullptr), std::invalid_argument);
}

}  // namespace
}  // namespace latchkey
