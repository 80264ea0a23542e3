// expect: expected LOCKED\(...\) before AROUND, or another type that derives from
// latchkey::Aspect Something that is no aspect.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

int call() {
  return Account{1} AROUND() { return 1; };
}
