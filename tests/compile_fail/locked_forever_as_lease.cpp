// expect: forever is a wait, the third argument of LOCKED
// forever where the lease stands.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

int call() {
  return LOCKED("key", LockType::WRITE, 3s, latchkey::forever) AROUND() { return 1; };
}
