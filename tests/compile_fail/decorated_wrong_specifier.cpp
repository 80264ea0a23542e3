// expect: DECORATED: `cosnt` is no specifier; const, volatile, override, final and noexcept are
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
