// The span of a decorated call: its attributes, its events, its place among other spans.
// tidy: long-file because the tests of one span share their fixture
#include <latchkey/adapters/opentelemetry.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <opentelemetry/trace/scope.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include <latchkey/default_locks.hpp>
#include <latchkey/latchkey.hpp>
#include <latchkey/locked_once_per.hpp>
#include <latchkey/testing/scoped_locks.hpp>

#include "opentelemetry/recording_tracer.hpp"
#include "support/recorder.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class Bank {
 public:
  template <class Body>
  int deposit(int account, Body body) {
    return LOCKED("account:{account}", LockType::WRITE, 3s, 30s)
        .named<"Bank::deposit">() AROUND(account) {
      return body();
    };
  }
  template <class Body>
  void skip_if_busy(int account, Body body) {
    LOCKED("account:{account}", LockType::WRITE, 0ms, 30s)
        .named<"Bank::skip_if_busy">()
        .on_timeout(strategy::skip) AROUND(account) {
      body();
    };
  }
  template <class Body>
  void transfer(int from, int to, Body body) {
    LOCKED(KEYS("account:{from}", "account:{to}"), LockType::WRITE, 3s, 30s)
        .named<"Bank::transfer">() AROUND(from, to) {
      body();
    };
  }
  template <class Body>
  void settle(int account, Body body) {
    LOCKED("account:{account}", LockType::FENCED, 3s, 30s).named<"Bank::settle">() AROUND(account) {
      body();
    };
  }
  /// Releases what it holds.
  void lose(int account) {
    LOCKED("account:{account}", LockType::WRITE, 3s, 30s).named<"Bank::lose">() AROUND(account) {
      static_cast<void>(default_locks().force_release("account:" + std::to_string(account)));
      EXPECT_FALSE(current_hold()->extend(30s));  // it notices
    };
  }
};

class SpansTest : public ::testing::Test {
 protected:
  /// The only span with that name, which has ended.
  [[nodiscard]] SpanRecord span(const std::string& name) const {
    const auto found = spans->named(name);
    EXPECT_THAT(found, SizeIs(1)) << name;
    if (found.empty()) return {};
    EXPECT_TRUE(found.front().ended);
    return found.front();
  }

  [[nodiscard]] Hold other_holder() const {
    const Locks others = scoped.locks().with_owner(Owner::make());
    return others.lock("account:42", LockType::WRITE).acquire();
  }
  [[nodiscard]] std::size_t holders() const {
    return scoped.locks().inspect("account:42").holders.size();
  }

  RecordedSpans spans;
  OpenTelemetryListener telemetry;
  Recorder recorder;
  latchkey::testing::ScopedLocks scoped{
      Locks::connect("memory:", {.listener = &recorder, .call_observer = &telemetry})};
  Bank bank;
};

TEST_F(SpansTest, HasTheMethodTheTemplateAndTheTerms) {
  EXPECT_EQ(bank.deposit(42, [] { return 7; }), 7);
  const SpanRecord deposit = span("Bank::deposit");
  EXPECT_EQ(deposit.parent, 0U);
  EXPECT_FALSE(deposit.failed);
  EXPECT_EQ(deposit.texts.at("latchkey.key.template"), "account:{account}");
  EXPECT_EQ(deposit.texts.at("latchkey.lock.type"), "WRITE");
  EXPECT_EQ(deposit.texts.at("latchkey.backend"), scoped.locks().describe());
  EXPECT_EQ(deposit.texts.at("latchkey.outcome"), "granted");
  EXPECT_THAT(deposit.texts.at("code.function.name"), HasSubstr("Bank::deposit"));
  EXPECT_THAT(deposit.texts.at("code.file.path"), HasSubstr("spans_test.cpp"));
  EXPECT_GT(deposit.numbers.at("code.line.number"), 0);
  EXPECT_EQ(deposit.numbers.at("latchkey.wait.limit"), 3);
  EXPECT_EQ(deposit.numbers.at("latchkey.lease"), 30);
  EXPECT_EQ(deposit.numbers.at("latchkey.attempts"), 1);
  EXPECT_THAT(deposit.event_names(), ElementsAre("lock.acquired", "lock.released"));
  EXPECT_FALSE(deposit.texts.contains("latchkey.key")) << "keys are recorded only if asked for";
  EXPECT_FALSE(deposit.texts.contains("error.type"));
}

TEST_F(SpansTest, RecordsKeysIfAsked) {
  OpenTelemetryListener with_keys({.records_keys = true});
  const latchkey::testing::ScopedLocks locks{
      Locks::connect("memory:", {.call_observer = &with_keys})};
  bank.deposit(42, [] { return 0; });
  bank.transfer(1, 2, [] {});
  EXPECT_EQ(span("Bank::deposit").texts.at("latchkey.key"), "account:42");
  EXPECT_THAT(span("Bank::transfer").texts.at("latchkey.key"), HasSubstr("account:2"));
}

TEST_F(SpansTest, IsCurrentInTheBodyAndNotAfterIt) {
  const auto tracer = RecordedSpans::tracer();
  auto request = tracer->StartSpan("request");
  {
    const otel::trace::Scope scope(request);
    bank.deposit(42, [&] {
      tracer->StartSpan("ledger.add");
      bank.settle(43, [&] { tracer->StartSpan("settle.write"); });
      return 0;
    });
    tracer->StartSpan("reply");
  }
  const SpanRecord deposit = span("Bank::deposit");
  EXPECT_EQ(deposit.parent, spans->named("request").front().id);
  EXPECT_EQ(span("ledger.add").parent, deposit.id);
  EXPECT_EQ(span("Bank::settle").parent, deposit.id);
  EXPECT_EQ(span("settle.write").parent, span("Bank::settle").id);
  EXPECT_EQ(span("reply").parent, deposit.parent);
}

TEST_F(SpansTest, HasTheFencingToken) {
  std::uint64_t token = 0;
  bank.settle(42, [&] { token = current_hold()->fencing_token().value(); });
  EXPECT_EQ(span("Bank::settle").numbers.at("latchkey.fence"), static_cast<double>(token));
}

TEST_F(SpansTest, AWaitHasItsTimeAndItsHolder) {
  std::atomic<bool> held = false;
  std::jthread holder([&] {
    bank.settle(42, [&] {
      held = true;
      held.notify_all();
      EXPECT_TRUE(recorder.await(Event::Kind::waiting));
    });
  });
  held.wait(false);
  bank.deposit(42, [] { return 0; });
  const SpanRecord deposit = span("Bank::deposit");
  EXPECT_THAT(deposit.event_names(),
              ElementsAre("lock.wait.begin", "lock.wait.end", "lock.acquired", "lock.released"));
  EXPECT_LE(deposit.events[0].second, deposit.events[1].second);
  EXPECT_GT(deposit.numbers.at("latchkey.wait.duration"), 0);
  EXPECT_EQ(deposit.texts.at("latchkey.holder.method"), "Bank::settle");
  EXPECT_EQ(deposit.numbers.at("latchkey.holder.pid"), ::getpid());
  EXPECT_FALSE(deposit.texts.at("latchkey.holder.host").empty());
  EXPECT_FALSE(deposit.failed);
}

TEST_F(SpansTest, ATimeoutIsAnErrorWithTheHolder) {
  const Hold held = other_holder();
  const auto call = [&] {
    LOCKED("account:42", LockType::WRITE, 20ms, 30s).named<"impatient">() AROUND(){};
  };
  EXPECT_THROW(call(), LockTimeout);
  const SpanRecord impatient = span("impatient");
  EXPECT_TRUE(impatient.failed);
  EXPECT_EQ(impatient.texts.at("latchkey.outcome"), "timeout");
  EXPECT_EQ(impatient.texts.at("error.type"), "timeout");
  EXPECT_THAT(impatient.texts.at("latchkey.holder"), HasSubstr("of this process"));
  EXPECT_THAT(impatient.status, Not(HasSubstr("account:42")));
  EXPECT_THAT(impatient.event_names(), ElementsAre("lock.wait.begin", "lock.wait.end"));
}

TEST_F(SpansTest, ABusyLockOfAJobThatIsSkippedIsNoError) {
  const Hold held = other_holder();
  bank.skip_if_busy(42, [] { FAIL() << "the body must not run"; });
  const SpanRecord skipped = span("Bank::skip_if_busy");
  EXPECT_FALSE(skipped.failed);
  EXPECT_EQ(skipped.texts.at("latchkey.outcome"), "busy");
  EXPECT_THAT(skipped.event_names(), IsEmpty());
}

TEST_F(SpansTest, ARunOfAnInstantIsASpanAndOneThatIsTakenIsNoError) {
  LOCKED_ONCE_PER("report", std::chrono::hours(24)).named("first") AROUND(){};
  LOCKED_ONCE_PER("report", std::chrono::hours(24)).named("second") AROUND(){};
  const SpanRecord ran = span("first"), taken = span("second");
  EXPECT_EQ(ran.texts.at("latchkey.outcome"), "granted");
  EXPECT_EQ(ran.texts.at("latchkey.key.template"), "report");
  EXPECT_THAT(ran.event_names(), ElementsAre("lock.acquired", "lock.released"));
  EXPECT_EQ(taken.texts.at("latchkey.outcome"), "taken");
  EXPECT_FALSE(taken.failed);
}

TEST_F(SpansTest, ABodyThatRunsUnlockedRunsInTheSpan) {
  const Hold held = other_holder();
  LOCKED("account:42", LockType::WRITE, 1ms, 30s)
      .named<"unlocked">()
      .on_timeout(strategy::run_unlocked_dangerously) AROUND() {
    RecordedSpans::tracer()->StartSpan("work");
  };
  EXPECT_EQ(span("work").parent, span("unlocked").id);
  EXPECT_EQ(span("unlocked").texts.at("latchkey.outcome"), "timeout");
}

TEST_F(SpansTest, ALossIsAnErrorAndAnEvent) {
  EXPECT_THROW(bank.lose(42), LockLost);
  const SpanRecord lost = span("Bank::lose");
  EXPECT_TRUE(lost.failed);
  EXPECT_EQ(lost.texts.at("latchkey.outcome"), "lost");
  EXPECT_EQ(lost.texts.at("error.type"), "lost");
  EXPECT_THAT(lost.event_names(), ElementsAre("lock.acquired", "lock.lost"));
}

TEST_F(SpansTest, AnExceptionOfTheBodyIsAnError) {
  const auto call = [&] {
    bank.deposit(42, []() -> int { throw std::runtime_error("no such account"); });
  };
  EXPECT_THROW(call(), std::runtime_error);
  const SpanRecord deposit = span("Bank::deposit");
  EXPECT_TRUE(deposit.failed);
  EXPECT_EQ(deposit.texts.at("error.type"), "_OTHER");
  EXPECT_EQ(deposit.texts.at("latchkey.outcome"), "granted");
  EXPECT_THAT(deposit.event_names(), ElementsAre("lock.acquired", "lock.released"));
  EXPECT_EQ(holders(), 0U);
}

TEST_F(SpansTest, SeveralKeysAreOneSpan) {
  std::atomic<bool> held = false;
  std::jthread holder([&] {
    bank.deposit(2, [&] {
      held = true;
      held.notify_all();
      EXPECT_TRUE(recorder.await(Event::Kind::waiting));
      return 0;
    });
  });
  held.wait(false);
  bank.transfer(1, 2, [] {});
  const SpanRecord transfer = span("Bank::transfer");
  EXPECT_THAT(transfer.event_names(),
              ElementsAre("lock.wait.begin", "lock.wait.end", "lock.acquired", "lock.released"));
  EXPECT_GT(transfer.numbers.at("latchkey.wait.duration"), 0);
}

TEST_F(SpansTest, ACallThatNeedsNoLockHasNoSpan) {
  const bool wanted = false;
  int ran = 0;
  LOCKED("account:42").named<"conditional">().when(wanted) AROUND() { ++ran; };
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(spans->size(), 0U);
}

TEST_F(SpansTest, AnErrorBeforeTheAcquireEndsTheSpan) {
  const auto call = [] {
    LOCKED("account:42", LockType::REENTRANT, 1s, 30s)
        .named<"refused">()
        .reentry(Reentry::refuse) AROUND() {
      LOCKED("account:42", LockType::REENTRANT, 1s, 30s)
          .named<"again">()
          .reentry(Reentry::refuse) AROUND(){};
    };
  };
  EXPECT_THROW(call(), WouldDeadlock);
  EXPECT_EQ(span("again").texts.at("latchkey.outcome"), "would_deadlock");
  EXPECT_TRUE(span("again").failed);
  EXPECT_TRUE(span("refused").failed);
}

TEST_F(SpansTest, HereIsASpanOfItsAcquire) {
  {
    const Hold hold = LOCKED("account:42").on_lost(strategy::report).named<"scope">() HERE();
    EXPECT_THAT(span("scope").event_names(), ElementsAre("lock.acquired"));
    RecordedSpans::tracer()->StartSpan("work");
  }
  EXPECT_EQ(span("work").parent, 0U);
}

TEST(OpenTelemetryListener, WithoutProvidersNothingIsObservedAndNoRoutineEventIsMade) {
  const OpenTelemetryListener telemetry;
  EXPECT_FALSE(telemetry.wants_calls());
  EXPECT_FALSE(telemetry.wants_everything());
}

TEST(OpenTelemetryListener, NamesOfMetricsAreUnique) {
  std::set<std::string_view> names;
  for (const auto& metric : OpenTelemetryListener::metrics()) {
    EXPECT_TRUE(names.insert(metric.name).second) << metric.name;
    EXPECT_TRUE(metric.name.starts_with("latchkey.")) << metric.name;
    EXPECT_FALSE(metric.description.empty()) << metric.name;
  }
  EXPECT_THAT(names, SizeIs(24));
}

TEST(OpenTelemetryListener, ThePageListsTheMetrics) {
  const std::string here = __FILE__;
  std::ifstream file(here.substr(0, here.rfind("/tests/") + 1) + "docs/opentelemetry.md");
  std::stringstream page;
  page << file.rdbuf();
  for (const auto& metric : OpenTelemetryListener::metrics()) {
    using enum OpenTelemetryListener::Metric::Kind;
    const std::string kind = metric.kind == counter     ? "counter"
                             : metric.kind == histogram ? "histogram"
                                                        : "up-down counter";
    EXPECT_THAT(page.str(), HasSubstr("| `" + std::string(metric.name) + "` | " + kind + " | " +
                                      std::string(metric.unit) + " |"));
    EXPECT_THAT(page.str(), HasSubstr("| " + std::string(metric.description) + " |"));
  }
}

}  // namespace
}  // namespace latchkey::tests
