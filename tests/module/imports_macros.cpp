// Imports the module and includes the macros: each of them, in a file without other headers.
#include <latchkey/macros.hpp>

#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

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

std::string held_key() { return std::string(latchkey::current_hold()->key()); }

class Account {
 public:
  LATCHKEY_FIELDS(Account, id_);

 private:
  long id_ = 42;
};

struct Pair {
  int left = 1;
  int right = 2;
};

class Bank {
 public:
  std::string deposit(const Account& account) {
    return LOCKED("account:{account.id_}", LockType::WRITE, 3s) AROUND(account) {
      return held_key();
    };
  }
  DECORATED(LOCKED("account:{account.id_}", LockType::READ), std::string, balance, (const),
            (const Account&) account) {
    ASSERT_HELD("account:{account.id_}", account);
    return held_key();
  }
  bool withdraw(const Account& account) {
    const latchkey::Hold hold = LOCKED("account:{account.id_}") HERE(account);
    return !hold.lost();
  }
  std::string both(const Pair& pair) {
    return LOCKED(KEYS("key:{pair.left}", "key:{pair.right}")) AROUND(pair) { return held_key(); };
  }
  std::optional<int> report() {
    return LOCKED_ONCE_PER("report", 24h) AROUND()->std::optional<int> { return 1; };
  }
};

}  // namespace

int main() {
  latchkey::install(latchkey::Locks::connect("memory:"));
  Bank bank;
  expect(bank.deposit({}) == "account:42", "AROUND");
  expect(bank.balance({}) == "account:42", "DECORATED");
  expect(bank.withdraw({}), "HERE");
  expect(!bank.both({}).empty(), "KEYS");
  expect(bank.report() == 1, "LOCKED_ONCE_PER");
  const auto doubled = LOCKED("callable:{0}")([](int number) { return 2 * number; });
  expect(doubled(4) == 8, "a callable");
  expect(latchkey::sites().begin() != latchkey::sites().end(), "the sites");
  if (failures == 0) std::puts("the module works with macros");
  return failures == 0 ? 0 : 1;
}
