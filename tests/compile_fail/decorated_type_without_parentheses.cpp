// expect: DECORATED: `const Account& account` should be \(type\) name
// An argument as it stands in a declaration.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

struct Bank {
  DECORATED(LOCKED("account:{account.id}"), int, balance, const Account& account) { return 1; }
};
