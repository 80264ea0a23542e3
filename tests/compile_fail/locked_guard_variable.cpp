// expect: variable .guard.
// The writer of this guard wanted HERE.
#include <latchkey/latchkey.hpp>

int number = 0;

void call() {
  auto guard = LOCKED("key");
  ++number;
}
