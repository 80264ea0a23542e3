// expect: account:\{form\}
// The second of several keys names no argument.
#include <latchkey/latchkey.hpp>

using latchkey::LockType;

int call(int from, int to) {
  return LOCKED(KEYS("account:{from}", "account:{form}"), LockType::WRITE) AROUND(from, to) {
    return 1;
  };
}
