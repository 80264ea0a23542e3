// expect: the result `auto` is deduced: say the type
// A deduced result.
#include <latchkey/latchkey.hpp>

struct Bank {
  DECORATED(LOCKED("key"), auto, call, (int)id) { return id; }
};
