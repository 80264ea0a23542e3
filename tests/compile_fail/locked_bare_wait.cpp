// expect: a wait has a unit: write 3s
// A number without a unit as the wait.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

int call() {
  return LOCKED("key", LockType::WRITE, 3, 30s) AROUND() { return 1; };
}
