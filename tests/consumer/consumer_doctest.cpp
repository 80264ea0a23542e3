// A consumer's tests by doctest: the testing kit without GoogleMock.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <chrono>
#include <latchkey/latchkey.hpp>
#include <latchkey/testing/core.hpp>
#include <latchkey/testing/simulator.hpp>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using latchkey::LockType;
using latchkey::testing::ManualClock;
using latchkey::testing::ScopedLocks;
using latchkey::testing::Taken;

#if __has_include(<gmock/gmock.h>) && defined(GTEST_API_)
#error "latchkey/testing/core.hpp includes GoogleTest"
#endif

namespace {

std::vector<std::string> failures;

template <class Body>
void deposit(int id, Body&& body) {
  LOCKED("account:{id}", LockType::WRITE, 3s, 30s) AROUND(id) { body(); };
}

template <class Body>
void audit(int id, Body&& body) {
  LOCKED("audit:{id}", LockType::WRITE, 3s, 30s) AROUND(id) { body(); };
}

}  // namespace

TEST_CASE("ScopedLocks record what is taken") {
  const ScopedLocks locks;
  deposit(42, [] {});
  CHECK(locks.taken() == std::vector{Taken{"account:42", LockType::WRITE}});
}

TEST_CASE("a manual clock ends a lease") {
  ManualClock clock;
  const ScopedLocks locks({.clock = &clock});
  CHECK_THROWS_AS(deposit(42, [&] { clock.advance(31s); }), latchkey::LockLost);
}

TEST_CASE("a violation of the lock order fails the test by the reporter that it names") {
  failures.clear();
  latchkey::testing::report_failures_to(
      [](const std::string& sentence) { failures.push_back(sentence); });
  {
    const ScopedLocks locks;
    deposit(1, [] { audit(1, [] {}); });
    audit(1, [] { deposit(1, [] {}); });
  }
  latchkey::testing::report_failures_to(
      [](const std::string& sentence) { ADD_FAIL_CHECK_AT(__FILE__, __LINE__, sentence); });
  REQUIRE(failures.size() == 1);
  CHECK(failures.front().starts_with("lock order: "));
}

TEST_CASE("the simulator runs") {
  CHECK(latchkey::testing::simulate(1, {.steps = 100}).violation.empty());
}
