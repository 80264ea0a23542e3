// expect: LOCKED\(...\) alone locks nothing and has no result: write LOCKED
// A body without AROUND that returns.
#include <latchkey/latchkey.hpp>

int number = 0;

int call() {
  return LOCKED("key") { return ++number; };
}
