// expect: LOCKED_BY needs the name of a policy
// A policy without a name.
#include <latchkey/latchkey.hpp>

int call() {
  return LOCKED_BY("") AROUND() { return 1; };
}
