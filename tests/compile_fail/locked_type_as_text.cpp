// expect: The second argument is not a LockType
// The type as a text.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

int call() {
  return LOCKED("key", "WRITE") AROUND() { return 1; };
}
