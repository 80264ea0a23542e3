// expect: the result of this body is thrown away: write return LOCKED
// A result that nobody gets.
#include <latchkey/latchkey.hpp>

int number = 0;

int call() {
  LOCKED("key") AROUND() { return ++number; };
  return 0;
}
