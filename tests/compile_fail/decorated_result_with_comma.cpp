// expect: DECORATED: `balance` should be \(type\) name: each type goes in parentheses, as does a
// result with a comma A comma in the result.
#include <latchkey/latchkey.hpp>

#include <chrono>
#include <map>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

struct Bank {
  DECORATED(LOCKED("key"), std::map<int, int>, balance, (int) account) { return {}; }
};
