// expect: the result `\(static auto\)` is deduced: say the type
// A deduced result with something before it.
#include <latchkey/latchkey.hpp>

struct Bank {
  DECORATED(LOCKED("key"), (static auto), call, (int)id) { return id; }
};
