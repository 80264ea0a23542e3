// expect: variable .guard.
// What its writer wanted is HERE.
#include <latchkey/latchkey.hpp>

int number = 0;

void call() {
  auto guard = LOCKED("key");
  ++number;
}
