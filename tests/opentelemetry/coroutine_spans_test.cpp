// The span of a decorated coroutine is current in its body, on whichever thread that runs.
#include <latchkey/adapters/opentelemetry.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <opentelemetry/trace/scope.h>

#include <chrono>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

#include "asio/locked_fixture.hpp"
#include "opentelemetry/recording_tracer.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::SizeIs;

/// A span that ends at once.
void mark(const char* name) { RecordedSpans::tracer()->StartSpan(name); }

class Service {
 public:
  DECORATED(LOCKED("order:{id}", LockType::WRITE, 3s, 30s).named<"Service::ship">(),
            asio::awaitable<void>, ship, (int) id) {
    mark("before");
    for (int hop = 0; hop < 20; ++hop) {
      co_await pause();
      threads.insert(std::this_thread::get_id());
      mark("hop");
    }
  }
  DECORATED(LOCKED("customer:{id}", LockType::WRITE, 3s, 30s).named<"Service::bill">(),
            asio::awaitable<void>, bill, (int) id) {
    co_await ship(id);
    mark("after the inner call");
    co_await pause();
    mark("later");
  }
  DECORATED(LOCKED("order:{id}", LockType::WRITE, 3s, 30s).named<"Service::fail">(),
            asio::awaitable<void>, fail, (int) id) {
    co_await pause();
    throw std::runtime_error("no such order");
  }
  DECORATED(LOCKED("order:{id}", LockType::WRITE, 20ms, 30s).named<"Service::impatient">(),
            asio::awaitable<void>, impatient, (int) id) {
    co_return;
  }

  std::set<std::thread::id> threads;
};

class CoroutineSpansTest : public ::testing::Test {
 protected:
  [[nodiscard]] SpanRecord span(const std::string& name) const {
    const auto found = spans->named(name);
    EXPECT_THAT(found, SizeIs(1)) << name;
    if (found.empty()) return {};
    EXPECT_TRUE(found.front().ended);
    return found.front();
  }

  RecordedSpans spans;
  OpenTelemetryListener telemetry;
  asio::io_context context;
  Locks locks = Locks::connect("memory:", {.call_observer = &telemetry});
  latchkey::testing::ScopedLocks scoped{locks};
  Service service;
};

TEST_F(CoroutineSpansTest, TheContextFollowsTheCoroutineAcrossThreads) {
  asio::co_spawn(context, service.ship(1), rethrow);
  run_on(context, 4);
  const SpanRecord ship = span("Service::ship");
  EXPECT_EQ(ship.parent, 0U);
  EXPECT_EQ(span("before").parent, ship.id);
  const auto hops = spans->named("hop");
  EXPECT_THAT(hops, SizeIs(20));
  for (const SpanRecord& hop : hops) EXPECT_EQ(hop.parent, ship.id);
  EXPECT_GT(service.threads.size(), 1U) << "the coroutine has changed its thread";
  EXPECT_THAT(ship.event_names(), ElementsAre("lock.acquired", "lock.released"));
  EXPECT_EQ(ship.texts.at("latchkey.outcome"), "granted");
}

TEST_F(CoroutineSpansTest, NestedCallsAreNestedSpans) {
  const auto caller = [&]() -> asio::awaitable<void> {
    co_await service.bill(1);
    mark("after the call");
  };
  run(context, caller());
  const SpanRecord bill = span("Service::bill");
  EXPECT_EQ(span("Service::ship").parent, bill.id);
  EXPECT_EQ(span("after the inner call").parent, bill.id);
  EXPECT_EQ(span("later").parent, bill.id);
  EXPECT_EQ(span("after the call").parent, 0U);
}

TEST_F(CoroutineSpansTest, ItsParentIsCurrentWhereItIsAwaited) {
  auto request = RecordedSpans::tracer()->StartSpan("request");
  const auto caller = [&]() -> asio::awaitable<void> {
    std::optional<otel::trace::Scope> scope(std::in_place, request);
    auto call = service.ship(1);
    co_await std::move(call);
    scope.reset();
  };
  run(context, caller());
  EXPECT_EQ(span("Service::ship").parent, spans->named("request").front().id);
}

TEST_F(CoroutineSpansTest, NeighboursOnOneThreadDoNotMix) {
  for (int id = 0; id < 5; ++id) asio::co_spawn(context, service.ship(id), rethrow);
  context.run();
  std::set<std::uint64_t> ships;
  for (const SpanRecord& ship : spans->named("Service::ship")) {
    EXPECT_EQ(ship.parent, 0U);
    ships.insert(ship.id);
  }
  std::map<std::uint64_t, int> hops;
  for (const SpanRecord& hop : spans->named("hop")) ++hops[hop.parent];
  EXPECT_THAT(hops, SizeIs(5));
  for (const auto& [parent, number] : hops) {
    EXPECT_TRUE(ships.contains(parent));
    EXPECT_EQ(number, 20);
  }
}

TEST_F(CoroutineSpansTest, AnExceptionOfTheBodyIsAnError) {
  const auto caller = [&]() -> asio::awaitable<void> {
    bool thrown = false;
    try {
      co_await service.fail(1);
    } catch (const std::runtime_error&) {
      thrown = true;
    }
    EXPECT_TRUE(thrown);
  };
  run(context, caller());
  const SpanRecord failed = span("Service::fail");
  EXPECT_TRUE(failed.failed);
  EXPECT_EQ(failed.texts.at("error.type"), "_OTHER");
  EXPECT_THAT(failed.event_names(), ElementsAre("lock.acquired", "lock.released"));
}

TEST_F(CoroutineSpansTest, ATimeoutIsAnErrorAndHasItsWait) {
  const Hold held = locks.with_owner(Owner::make()).lock("order:1", LockType::WRITE).acquire();
  const auto caller = [&]() -> asio::awaitable<void> {
    bool timed_out = false;
    try {
      co_await service.impatient(1);
    } catch (const LockTimeout&) {
      timed_out = true;
    }
    EXPECT_TRUE(timed_out);
  };
  run(context, caller());
  const SpanRecord impatient = span("Service::impatient");
  EXPECT_TRUE(impatient.failed);
  EXPECT_EQ(impatient.texts.at("latchkey.outcome"), "timeout");
  EXPECT_THAT(impatient.event_names(), ElementsAre("lock.wait.begin", "lock.wait.end"));
  EXPECT_EQ(impatient.parent, 0U);
}

TEST_F(CoroutineSpansTest, ACoroutineThatIsDestroyedWithItsContextEndsItsSpan) {
  const Hold held = locks.with_owner(Owner::make()).lock("order:1", LockType::WRITE).acquire();
  {
    asio::io_context own;
    asio::co_spawn(own, service.ship(1), rethrow);
    own.poll();
  }
  EXPECT_TRUE(span("Service::ship").ended);
}

}  // namespace
}  // namespace latchkey::tests
