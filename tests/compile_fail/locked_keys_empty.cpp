// expect: KEYS needs keys, as in KEYS
// Several keys that are none.
#include <latchkey/latchkey.hpp>

using latchkey::LockType;

int call() {
  return LOCKED(KEYS(), LockType::WRITE) AROUND() { return 1; };
}
