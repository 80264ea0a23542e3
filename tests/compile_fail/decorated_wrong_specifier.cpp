// expect: DECORATED: unknown specifier `cosnt`; expected const, volatile, override, final or noexcept
// A specifier with a slip.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

struct Bank {
  DECORATED(LOCKED("key"), int, balance, (cosnt)) { return 1; }
};
