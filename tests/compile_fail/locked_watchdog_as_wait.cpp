// expect: watchdog is a lease, the fourth argument of LOCKED
// watchdog where the wait stands.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

int call() {
  return LOCKED("key", LockType::WRITE, latchkey::watchdog, 30s) AROUND() { return 1; };
}
