// Imports the module and includes nothing of latchkey: locks, errors and aspects by hand.
#include <chrono>
#include <cstdio>
#include <optional>
#include <source_location>
#include <string>

import latchkey;

using namespace std::chrono_literals;
using latchkey::LockType;

namespace {

int failures = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("wrong: %s\n", what);
  ++failures;
}

struct Account {
  long id = 42;
};

/// The call that LOCKED and AROUND stand for: docs/annotations.md.
std::string decorated(const Account& account) {
  const auto place = [] { return std::source_location::current(); };
  return latchkey::locked<"account:{account.id}">(place) * latchkey::terms(LockType::WRITE, 3s) &&
         latchkey::with_arguments<"account">(place, account) &&
         [&] { return std::string(latchkey::current_hold()->key()); };
}

}  // namespace

int main() {
  const latchkey::Locks locks = latchkey::Locks::connect("memory:");
  const latchkey::Locks others = locks.with_owner(latchkey::Owner::make());
  {
    latchkey::Hold hold = locks.lock("key", LockType::WRITE).acquire(1s, 30s);
    expect(hold.key() == "key", "the key of a hold");
    expect(!others.lock("key", LockType::READ).try_acquire().has_value(), "it excludes others");
    try {
      static_cast<void>(others.lock("key", LockType::READ).acquire(10ms));
      expect(false, "a busy lock throws");
    } catch (const latchkey::LockTimeout& error) {
      expect(error.key() == "key", "the key of an error");
    }
    expect(hold.release(), "a release");
  }
  {
    const latchkey::Hold permit = locks.semaphore("pool", 1).acquire();
    expect(!others.semaphore("pool", 1).try_acquire().has_value(), "a semaphore");
  }
  expect(latchkey::to_string(LockType::FENCED) == "FENCED", "the name of a type");
  expect(!latchkey::version().empty(), "the version");
  latchkey::install(locks);
  expect(decorated({}) == "account:42", "a decorated call");
  if (failures == 0) std::puts("the module works");
  return failures == 0 ? 0 : 1;
}
