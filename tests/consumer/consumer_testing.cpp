// A consumer's own test program: the testing kit as it was installed, without tests of latchkey's.
#include <gmock/gmock.h>
#include <cstdio>
#include <latchkey/latchkey.hpp>
#include <latchkey/testing.hpp>
#include <latchkey/testing/simulator.hpp>

namespace {

using latchkey::LockType;
using latchkey::testing::HoldsLock;
using latchkey::testing::ScopedLocks;
using latchkey::testing::Taken;

int good = 0;
int bad = 0;

void expect(bool works, const char* what) {
  std::printf("%-40s %s\n", what, works ? "works" : "BROKEN");
  ++(works ? good : bad);
}

void deposit(int id, const ScopedLocks& locks) {
  LOCKED("account:{id}", LockType::WRITE) AROUND(id) {
    expect(testing::Value(latchkey::current_hold(), HoldsLock("account:42", LockType::WRITE)),
           "HoldsLock");
    expect(testing::Value(locks, HoldsLock("account:42")), "HoldsLock of ScopedLocks");
  };
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  const ScopedLocks locks;
  deposit(42, locks);
  expect(testing::Value(locks.taken(), testing::ElementsAre(Taken{"account:42", LockType::WRITE})),
         "ScopedLocks");
  testing::NiceMock<latchkey::testing::MockBackend> mock;
  expect(mock.describe() == "mock:", "MockBackend");
  expect(latchkey::testing::simulate(1, {.steps = 100}).violation.empty(), "simulate");
  return bad == 0 && good == 5 ? 0 : 1;
}
