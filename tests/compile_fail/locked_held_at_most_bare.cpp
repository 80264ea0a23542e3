// expect: held_at_most takes a time with a unit: write 10min
// A number without a unit as the longest hold.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

int call() {
  return LOCKED("key", LockType::WRITE, 3s, latchkey::watchdog).held_at_most(600) AROUND() {
    return 1;
  };
}
