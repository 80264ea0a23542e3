// expect: LOCKED_BY takes the name of a policy and nothing else
// The type, which the policy says, is said in code.
#include <latchkey/latchkey.hpp>

int call() {
  return LOCKED_BY("money", latchkey::LockType::WRITE) AROUND() { return 1; };
}
