// CallObserver: what it is told by decorated calls, in which order.
#include <latchkey/call_observer.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <latchkey/decorate.hpp>
#include <latchkey/error.hpp>
#include <latchkey/locked_once_per.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/once_per.hpp>
#include <latchkey/testing/scoped_locks.hpp>

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Lines = std::vector<std::string>;

class NotingScope final : public CallScope {
 public:
  explicit NotingScope(Lines& lines) : lines_(lines) { lines_.emplace_back("enter"); }
  ~NotingScope() override { lines_.emplace_back("leave"); }

 private:
  Lines& lines_;
};

class NotingObservation final : public CallObservation {
 public:
  explicit NotingObservation(Lines& lines) : lines_(lines) {}
  ~NotingObservation() override { lines_.emplace_back("over"); }

  void acquiring(const Locks& /*locks*/, std::string_view key,
                 const Attempt& attempt) noexcept override {
    lines_.push_back("acquiring '" + std::string(key) + "' of " +
                     std::string(attempt.origin.key_template));
  }
  void acquired(const Hold& hold, const AcquireReport& report) noexcept override {
    lines_.push_back("acquired " + std::string(hold.key()) + (report.contended ? ", waited" : ""));
  }
  void not_acquired(Event::Kind outcome, const AcquireReport& /*report*/,
                    const std::exception_ptr& error) noexcept override {
    lines_.push_back(std::string(to_string(outcome)) + (error != nullptr ? ", thrown" : ""));
  }
  void ended(Event::Kind outcome,
             std::optional<std::chrono::milliseconds> /*held*/) noexcept override {
    lines_.emplace_back(to_string(outcome));
  }
  void body_threw() noexcept override { lines_.emplace_back("threw"); }
  std::unique_ptr<CallScope> enter_thread() noexcept override {
    return std::make_unique<NotingScope>(lines_);
  }

 private:
  Lines& lines_;
};

class NotingObserver final : public CallObserver {
 public:
  std::unique_ptr<CallObservation> begin() noexcept override {
    return ignores ? nullptr : std::make_unique<NotingObservation>(lines);
  }
  [[nodiscard]] bool wants_calls() const noexcept override { return wanted; }

  Lines lines;
  bool ignores = false;
  bool wanted = true;
};

class CallObserverTest : public ::testing::Test {
 protected:
  template <class Body>
  void work(int id, Body body) {
    LOCKED("k:{id}", LockType::WRITE, 20ms, 30s) AROUND(id) { body(); };
  }
  void note(const char* line) { observer.lines.emplace_back(line); }

  NotingObserver observer;
  Locks locks = Locks::connect("memory:", {.call_observer = &observer});
  latchkey::testing::ScopedLocks scoped{locks};
};

TEST_F(CallObserverTest, IsToldOfACallInItsOrder) {
  work(7, [&] { note("body"); });
  EXPECT_THAT(observer.lines, ElementsAre("acquiring 'k:7' of k:{id}", "acquired k:7", "enter",
                                          "body", "leave", "released", "over"));
}

TEST_F(CallObserverTest, IsToldOfABodyThatThrows) {
  EXPECT_THROW(work(7, [] { throw std::runtime_error("no"); }), std::runtime_error);
  EXPECT_THAT(observer.lines, ElementsAre("acquiring 'k:7' of k:{id}", "acquired k:7", "enter",
                                          "threw", "leave", "released", "over"));
}

TEST_F(CallObserverTest, IsToldOfATimeoutThatIsThrown) {
  const Hold held = locks.with_owner(Owner::make()).lock("k:7", LockType::WRITE).acquire();
  EXPECT_THROW(work(7, [] {}), LockTimeout);
  EXPECT_THAT(observer.lines, ElementsAre("acquiring 'k:7' of k:{id}", "timeout, thrown", "over"));
}

TEST_F(CallObserverTest, IsToldOfATimeoutThatAStrategyAnswers) {
  const Hold held = locks.with_owner(Owner::make()).lock("k", LockType::WRITE).acquire();
  LOCKED("k", LockType::WRITE, 1ms, 30s).on_timeout(strategy::run_unlocked_dangerously) AROUND() {
    note("body");
  };
  EXPECT_THAT(observer.lines,
              ElementsAre("acquiring 'k' of k", "timeout", "enter", "body", "leave", "over"));
  observer.lines.clear();
  LOCKED("k", LockType::WRITE, 0ms, 30s).on_timeout(strategy::skip) AROUND() { note("body"); };
  EXPECT_THAT(observer.lines, ElementsAre("acquiring 'k' of k", "busy", "enter", "leave", "over"));
  observer.lines.clear();
  LOCKED("k", LockType::WRITE, 1ms, 30s).no_throw() AROUND() { note("body"); };
  EXPECT_THAT(observer.lines,
              ElementsAre("acquiring 'k' of k", "timeout", "enter", "leave", "over"));
}

TEST_F(CallObserverTest, IsToldOfALoss) {
  const auto lose = [&] { work(7, [&] { EXPECT_TRUE(locks.force_release("k:7")); }); };
  EXPECT_THROW(lose(), LockLost);
  EXPECT_THAT(observer.lines, ElementsAre("acquiring 'k:7' of k:{id}", "acquired k:7", "enter",
                                          "leave", "lost", "over"));
}

TEST_F(CallObserverTest, IsToldOfOneRunForEachInstant) {
  const auto report = [&](int id) {
    LOCKED_ONCE_PER("report:{id}", std::chrono::hours(24)) AROUND(id) { note("body"); };
  };
  report(7);
  const std::string& acquired = observer.lines.at(1);
  EXPECT_THAT(acquired, ::testing::StartsWith("acquired latchkey_once:report:7:"));
  EXPECT_THAT(observer.lines, ElementsAre("acquiring 'report:7' of report:{id}", acquired, "enter",
                                          "body", "leave", "released", "over"));
  observer.lines.clear();
  report(7);
  EXPECT_THAT(observer.lines,
              ElementsAre("acquiring 'report:7' of report:{id}", "taken, thrown", "over"));
}

TEST_F(CallObserverTest, IsToldOfARunThatFails) {
  const auto fail = [&] {
    LOCKED_ONCE_PER("report", std::chrono::hours(24)) AROUND() { throw std::runtime_error("no"); };
  };
  EXPECT_THROW(fail(), std::runtime_error);
  EXPECT_THAT(Lines(observer.lines.begin() + 2, observer.lines.end()),
              ElementsAre("enter", "threw", "leave", "released", "over"));
  observer.lines.clear();
  EXPECT_TRUE(locks.once_per("other", std::chrono::hours(24)).run([] {}));
  EXPECT_THAT(observer.lines, IsEmpty()) << "it is not a decorated call";
}

TEST_F(CallObserverTest, NestsWithTheCalls) {
  work(1, [&] { work(2, [&] { note("body"); }); });
  EXPECT_THAT(observer.lines,
              ElementsAre("acquiring 'k:1' of k:{id}", "acquired k:1", "enter",
                          "acquiring 'k:2' of k:{id}", "acquired k:2", "enter", "body", "leave",
                          "released", "over", "leave", "released", "over"));
}

TEST_F(CallObserverTest, MayIgnoreACall) {
  observer.ignores = true;
  work(7, [&] { note("body"); });
  EXPECT_THAT(observer.lines, ElementsAre("body"));
}

TEST_F(CallObserverTest, HearsNothingOfCallsOfOtherLocks) {
  const latchkey::testing::ScopedLocks others{Locks::connect("memory:")};
  work(7, [] {});
  EXPECT_THAT(observer.lines, IsEmpty());
}

TEST(Attempt, ItsReportTellsTheWaitAndTheHolder) {
  const Locks locks = Locks::connect("memory:");
  const Hold held = locks.acquire("k", {});
  AcquireReport report;
  Attempt attempt;
  attempt.wait = 20ms;
  attempt.report = &report;
  EXPECT_EQ(locks.with_owner(Owner::make()).try_acquire("k", attempt), std::nullopt);
  ASSERT_TRUE(report.contended.has_value());
  EXPECT_GE(*report.contended, 1ms);
  EXPECT_THAT(report.holder, ::testing::HasSubstr("of this process"));
}

}  // namespace
}  // namespace latchkey
