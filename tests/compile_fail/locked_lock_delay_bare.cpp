// expect: lock_delay takes a time with a unit: write 5s
// A number without a unit as the time for which nobody is granted after a loss.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;
using latchkey::LockType;

int call() {
  return LOCKED("key", LockType::WRITE, 3s, 30s).lock_delay(5) AROUND() { return 1; };
}
