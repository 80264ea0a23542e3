// A consumer's tests by Catch2 2, in Debian 12: the testing kit without GoogleMock.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#include <chrono>
#include <latchkey/latchkey.hpp>
#include <latchkey/testing/core.hpp>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using latchkey::LockType;
using latchkey::testing::report_failures_to;
using latchkey::testing::ScopedLocks;
using latchkey::testing::Taken;

namespace {

template <class Body>
void deposit(int id, Body&& body) {
  LOCKED("account:{id}", LockType::WRITE, 3s, 30s) AROUND(id) { body(); };
}

template <class Body>
void audit(int id, Body&& body) {
  LOCKED("audit:{id}", LockType::WRITE, 3s, 30s) AROUND(id) { body(); };
}

void violate_the_order() {
  const ScopedLocks locks;
  deposit(1, [] { audit(1, [] {}); });
  audit(1, [] { deposit(1, [] {}); });
}

}  // namespace

TEST_CASE("ScopedLocks record what is taken") {
  const ScopedLocks locks;
  deposit(42, [] {});
  CHECK(locks.taken() == std::vector{Taken{"account:42", LockType::WRITE}});
}

TEST_CASE("a violation of the lock order fails the test", "[!shouldfail]") { violate_the_order(); }

int main(int argc, char** argv) {
  report_failures_to([](const std::string& sentence) { FAIL_CHECK(sentence); });
  return Catch::Session().run(argc, argv);
}
