// expect: LOCKED takes a key, a LockType, a wait and a lease; everything else is a member
// A fifth argument.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

int call() {
  return LOCKED("key", LockType::WRITE, 3s, 30s, latchkey::strategy::skip) AROUND() { return 1; };
}
