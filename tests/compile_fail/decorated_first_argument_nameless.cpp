// expect: DECORATED: unknown specifier `const Account&`;.*add its name
// The first argument has no name.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

struct Bank {
  DECORATED(LOCKED("key"), int, balance, (const Account&)) { return 1; }
};
