// Strategies: what a call does if its lock is busy, unavailable or lost.
#include <latchkey/strategy.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>

#include <latchkey/decorate.hpp>
#include <latchkey/error.hpp>
#include <latchkey/held.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/testing/scoped_locks.hpp>

#include "support/failing_backend.hpp"
#include "support/manual_locks.hpp"
#include "support/recorder.hpp"

namespace {

using namespace std::chrono_literals;
using latchkey::LockType;
namespace strategy = latchkey::strategy;

/// As std::expected of C++23 spells it.
template <class E>
struct Unexpected {
  explicit Unexpected(E why) : error(std::move(why)) {}
  E error;
};
template <class T, class E>
class Expected {
 public:
  using value_type = T;
  using error_type = E;
  using unexpected_type = Unexpected<E>;
  Expected(T value) : state_(std::move(value)) {}                      // NOLINT
  Expected(unexpected_type error) : state_(std::move(error.error)) {}  // NOLINT
  [[nodiscard]] bool has_value() const { return state_.index() == 0; }
  [[nodiscard]] const E& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, E> state_;
};

class Strategies : public ::testing::Test {
 protected:
  void make_busy() { other_.emplace(locks_.with_owner(latchkey::Owner::make()).acquire("k", {})); }

  latchkey::tests::Faults faults_;
  latchkey::Locks locks_ = latchkey::Locks::connect("memory:");
  latchkey::testing::ScopedLocks scope_{locks_};
  std::optional<latchkey::Hold> other_;
  int ran_ = 0;
};

#define BUSY_CALL LOCKED("k", LockType::REENTRANT, 1ms, 10s)

TEST_F(Strategies, SkipReturnsAnEmptyOptionalOrANullPointer) {
  make_busy();
  BUSY_CALL.on_timeout(strategy::skip) AROUND() { ++ran_; };
  const auto optional = BUSY_CALL.on_timeout(strategy::skip) AROUND() {
    ++ran_;
    return std::optional<int>(1);
  };
  EXPECT_FALSE(optional.has_value());
  const auto pointers = BUSY_CALL.on_timeout(strategy::skip) AROUND()->std::optional<int*> {
    return &ran_;
  };
  EXPECT_FALSE(pointers.has_value()) << "an empty optional, not one with a null pointer in it";
  const auto unique = BUSY_CALL.on_timeout(strategy::skip) AROUND() {
    return std::make_unique<int>(1);
  };
  EXPECT_EQ(unique, nullptr);
  const int* const pointer = BUSY_CALL.on_timeout(strategy::skip) AROUND() { return &ran_; };
  EXPECT_EQ(pointer, nullptr);
  EXPECT_EQ(ran_, 0);
}

TEST_F(Strategies, SkipMakesTheErrorOfAnExpected) {
  make_busy();
  using Code = Expected<int, std::error_code>;
  const Code code = BUSY_CALL.on_timeout(strategy::skip) AROUND()->Code { return 1; };
  ASSERT_FALSE(code.has_value());
  EXPECT_EQ(code.error(), std::errc::timed_out);
  using Own = Expected<int, latchkey::NotRun>;
  const Own own = BUSY_CALL.on_timeout(strategy::skip) AROUND()->Own { return 1; };
  EXPECT_EQ(own.error(), latchkey::NotRun::timeout);
  using Pointer = Expected<int, std::exception_ptr>;
  const Pointer held = BUSY_CALL.on_timeout(strategy::skip) AROUND()->Pointer { return 1; };
  EXPECT_THROW(std::rethrow_exception(held.error()), latchkey::Error);
}

TEST_F(Strategies, SkipWithGivesTheValue) {
  make_busy();
  const int result = BUSY_CALL.on_timeout(strategy::skip_with(-1)) AROUND() { return ++ran_; };
  EXPECT_EQ(result, -1);
  const std::string text = BUSY_CALL.on_timeout(strategy::skip_with("none")) AROUND() {
    return std::string("some");
  };
  EXPECT_EQ(text, "none");
  EXPECT_EQ(ran_, 0);
}

TEST_F(Strategies, FallbackIsCalledWithTheArgumentsOrWithNone) {
  make_busy();
  const int number = 20;
  const int with =
      BUSY_CALL.on_timeout(strategy::fallback([](int given) { return given + 1; })) AROUND(number) {
    return ++ran_ + number;
  };
  EXPECT_EQ(with, 21);
  static int elsewhere = 5;
  int& without =
      BUSY_CALL.on_timeout(strategy::fallback([]() -> int& { return elsewhere; })) AROUND()->int& {
    return ran_;
  };
  EXPECT_EQ(&without, &elsewhere);
  bool called = false;
  BUSY_CALL.on_timeout(strategy::fallback([&] { called = true; })) AROUND() { ++ran_; };
  EXPECT_TRUE(called);
  EXPECT_EQ(ran_, 0);
}

TEST_F(Strategies, AreNotUsedIfTheLockIsFree) {
  const int result = BUSY_CALL.on_timeout(strategy::skip_with(-1))
                         .on_unavailable(strategy::skip_with(-2)) AROUND() {
    return ++ran_;
  };
  EXPECT_EQ(result, 1);
  EXPECT_TRUE(locks_.list().empty());
}

TEST_F(Strategies, RunUnlockedRunsWithoutAHold) {
  make_busy();
  const int result = BUSY_CALL.on_timeout(strategy::run_unlocked_dangerously) AROUND() {
    EXPECT_EQ(latchkey::current_hold(), nullptr);
    EXPECT_THROW(ASSERT_HELD("k"), latchkey::NotHeld);
    return ++ran_;
  };
  EXPECT_EQ(result, 1);
}

TEST_F(Strategies, UnavailableIsNotATimeout) {
  const latchkey::Locks failing(std::make_unique<latchkey::tests::FailingBackend>(faults_));
  faults_.silent = true;
  const int result = BUSY_CALL.in(failing)
                         .on_timeout(strategy::skip_with(-1))
                         .on_unavailable(strategy::skip_with(-2)) AROUND() {
    return ++ran_;
  };
  EXPECT_EQ(result, -2);
  // Another Locks: a call of the first would wait for the release of what that call may have taken.
  const latchkey::Locks raises(std::make_unique<latchkey::tests::FailingBackend>(faults_));
  const auto raising = [&] {
    return BUSY_CALL.in(raises).on_timeout(strategy::skip_with(-1)) AROUND() { return ++ran_; };
  };
  EXPECT_THROW(raising(), latchkey::BackendUnavailable);
  EXPECT_EQ(ran_, 0);
  faults_.silent = false;
}

TEST_F(Strategies, AnUnconfirmedReleaseFollowsItsOwnSetting) {
  const latchkey::Locks failing(std::make_unique<latchkey::tests::FailingBackend>(faults_));
  const auto raising = [&] {
    return BUSY_CALL.in(failing).on_unconfirmed_release(strategy::raise) AROUND() {
      faults_.silent = true;
      return ++ran_;
    };
  };
  EXPECT_THROW(raising(), latchkey::BackendUnavailable);
  EXPECT_EQ(ran_, 1);
  faults_.silent = false;
  latchkey::tests::Recorder recorder(false);
  const latchkey::Locks listening(std::make_unique<latchkey::tests::FailingBackend>(faults_),
                                  {.listener = &recorder});
  const int reported = LOCKED("another").in(listening).on_lost(strategy::report) AROUND() {
    faults_.silent = true;
    return ++ran_;
  };
  EXPECT_EQ(reported, 2);
  faults_.silent = false;
  const int too_slow =
      LOCKED("a third").in(listening).on_lost(strategy::report).hold_for(1ms) AROUND() {
    std::this_thread::sleep_for(2ms);  // sleeps: the body takes longer than hold_for
    faults_.silent = true;
    return ++ran_;
  };
  EXPECT_EQ(too_slow, 3);
  faults_.silent = false;
  constexpr auto unconfirmed = latchkey::Event::Kind::release_unconfirmed;
  ASSERT_TRUE(recorder.await(unconfirmed, 2));
  EXPECT_EQ(recorder.of(unconfirmed).front().key, "another");
  EXPECT_EQ(recorder.of(unconfirmed).back().key, "a third");
}

TEST_F(Strategies, NoThrowReportsHiddenErrorsToTheListener) {
  latchkey::tests::Recorder recorder(false);
  const auto listening = latchkey::Locks::connect("memory:", {.listener = &recorder});
  const std::string empty;
  LOCKED("key:{empty}", LockType::WRITE).in(listening).no_throw() AROUND(empty) noexcept {};
  ASSERT_TRUE(recorder.await(latchkey::Event::Kind::hidden_error));
  const latchkey::Event hidden = recorder.of(latchkey::Event::Kind::hidden_error).front();
  EXPECT_EQ(hidden.type, LockType::WRITE);
  EXPECT_NE(hidden.text.find("empty"), std::string::npos) << hidden.text;
}

TEST_F(Strategies, HoldForUsesTheClockOfItsLocks) {
  latchkey::tests::ManualLocks manual;
  LOCKED("k", LockType::REENTRANT, 0ms, 1h).in(manual.locks).hold_for(10min) AROUND() {
    manual.clock.advance(9min);
  };
  EXPECT_FALSE(manual.another().lock("k").try_acquire());
  manual.pass(61s);
  EXPECT_TRUE(manual.another().lock("k").try_acquire());
}

TEST_F(Strategies, NoThrowThrowsNothing) {
  make_busy();
  const auto quiet = [&](int& counter) noexcept {
    BUSY_CALL.no_throw() AROUND(counter) noexcept { ++counter; };
  };
  quiet(ran_);
  EXPECT_EQ(ran_, 0);
  other_.reset();
  quiet(ran_);
  EXPECT_EQ(ran_, 1);

  const std::string empty;
  const int no_key = LOCKED("key:{empty}")
                         .on_timeout(strategy::skip_with(-1))
                         .on_unavailable(strategy::skip_with(-2))
                         .no_throw() AROUND(empty) noexcept {
    return 1;
  };
  EXPECT_EQ(no_key, -2) << "a KeyError counts as unavailable";

  std::stop_source stopped;
  stopped.request_stop();
  make_busy();
  const int cancelled = BUSY_CALL.cancel_with(stopped.get_token())
                            .on_timeout(strategy::skip_with(-1))
                            .on_unavailable(strategy::skip_with(-2))
                            .no_throw() AROUND() noexcept {
    return 1;
  };
  EXPECT_EQ(cancelled, -1);
}

TEST_F(Strategies, WhenDecidesWhetherToLock) {
  make_busy();
  const bool shared = false;
  BUSY_CALL.when(shared) AROUND() {
    ++ran_;
    EXPECT_EQ(latchkey::current_hold(), nullptr);
  };
  auto conditional = LOCKED("c:{0}").when([](int number) { return number > 10; })(
      [](int) { return latchkey::current_hold() != nullptr; });
  EXPECT_FALSE(conditional(1));
  EXPECT_TRUE(conditional(11));
  struct Item {
    bool guarded;
    std::string text;
  };
  const auto guarded = [](const Item& item) {
    return LOCKED("i").when<"{item.guarded}">() AROUND(item) {
      return latchkey::current_hold() != nullptr;
    };
  };
  EXPECT_TRUE(guarded({true, ""}));
  EXPECT_FALSE(guarded({false, ""}));
  const auto wrong = [](const Item& item) { LOCKED("i").when<"{item.text}">() AROUND(item){}; };
  try {
    wrong({true, "perhaps"});
    ADD_FAILURE();
  } catch (const latchkey::KeyError& error) {
    const std::string sentence = error.what();
    EXPECT_NE(sentence.find("strategies_test.cpp"), std::string::npos) << sentence;
    EXPECT_NE(sentence.find(".when<\"{item.text}\">() is 'perhaps': it must be true or false"),
              std::string::npos)
        << sentence;
  }
  EXPECT_EQ(ran_, 1);
}

}  // namespace
