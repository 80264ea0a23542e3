// expect: HERE gives the Hold of one LOCKED\(...\) or LOCKED_BY
// Other aspects end with a body.
#include <latchkey/latchkey.hpp>

struct Timed : latchkey::Aspect {
  template <class Proceed>
  decltype(auto) around(latchkey::JoinPoint&, Proceed&& proceed) const {
    return proceed();
  }
};

void call() { auto hold = Timed() | LOCKED("key") HERE(); }
