// expect: this body is noexcept, but its lock may throw .*add .no_throw\(\)
// A noexcept method whose lock throws.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

struct Bank {
  DECORATED(LOCKED("key"), int, balance, (const, noexcept)) { return 1; }
};
