// expect: `\(int\) ?id = 3` has a default value, .*write a second method
// An argument with a default value.
#include <latchkey/latchkey.hpp>

struct Bank {
  DECORATED(LOCKED("key"), int, call, (int)id = 3) { return id; }
};
