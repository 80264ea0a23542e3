// expect: DECORATED takes decorators, a result and a name.*something is missing here. Given are 2
// of at least 3 No name.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

struct Bank {
  DECORATED(LOCKED("key"), int) { return 1; }
};
