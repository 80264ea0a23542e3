// expect: DECORATED: `\(int\)` has no name: each argument is \(type\) name
// An argument without a name.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

struct Bank {
  DECORATED(LOCKED("key"), int, balance, (const), (int)) { return 1; }
};
