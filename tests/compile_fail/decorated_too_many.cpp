// expect: DECORATED takes up to 16 arguments, and here are more
// More than sixteen arguments.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

struct Bank {
  DECORATED(LOCKED("key"), int, sum, (const), (int) a, (int) b, (int) c, (int) d, (int) e, (int) f,
            (int) g, (int) h, (int) i, (int) j, (int) k, (int) l, (int) m, (int) n, (int) o,
            (int) p, (int) q, (int) r) {
    return 1;
  }
};
