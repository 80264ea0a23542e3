// expect: LOCKED_BY takes the name of a policy as a literal
// The policy's name in a variable.
#include <latchkey/latchkey.hpp>

int call(const char* policy) {
  return LOCKED_BY(policy) AROUND() { return 1; };
}
