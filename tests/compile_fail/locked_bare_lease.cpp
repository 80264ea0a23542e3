// expect: a lease has a unit: write 30s
// A number without a unit as the lease.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

int call() {
  return LOCKED("key", LockType::WRITE, 3s, 30) AROUND() { return 1; };
}
