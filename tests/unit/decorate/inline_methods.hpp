// Decorated inline methods that two translation units include.
#pragma once

#include <chrono>

#include <latchkey/decorate.hpp>

namespace latchkey::inline_methods {

struct Account {
  int id;
};

class Bank {
 public:
  int deposit(const Account& account, int amount) {
    using namespace std::chrono_literals;
    return LOCKED("inline:{account.id}", LockType::WRITE, 3s, 30s) AROUND(account, amount) {
      return sum_ += amount;
    };
  }
  DECORATED(LOCKED("inline:{account.id}"), int, balance, (const), (const Account&) account) {
    return sum_;
  }
  template <class T>
  T echo(T value) {
    return LOCKED("echo") AROUND(value) { return value; };
  }

 private:
  int sum_ = 0;
};

inline const auto twice = LOCKED("twice:{0}")([](int value) { return 2 * value; });

/// Deposits in the other translation unit, and returns the balance there.
int deposit_elsewhere(Bank& bank, const Account& account);
/// Calls `twice` and `echo` in the other translation unit.
int twice_elsewhere(int value);

}  // namespace latchkey::inline_methods
