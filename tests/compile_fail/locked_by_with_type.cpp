// expect: LOCKED_BY takes the name of a policy and nothing else
// What the policy says, said in code.
#include <latchkey/latchkey.hpp>

int call() {
  return LOCKED_BY("money", latchkey::LockType::WRITE) AROUND() { return 1; };
}
