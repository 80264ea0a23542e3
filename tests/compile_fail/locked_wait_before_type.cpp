// expect: after the key LOCKED takes a LockType, then a wait, then a lease
// The type and the wait are swapped.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

int call() {
  return LOCKED("key", 3s, LockType::WRITE) AROUND() { return 1; };
}
