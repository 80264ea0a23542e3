// expect: LOCKED_BY needs the name of a policy
// No policy at all.
#include <latchkey/latchkey.hpp>

int call() {
  return LOCKED_BY() AROUND() { return 1; };
}
