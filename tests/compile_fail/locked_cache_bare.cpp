// expect: cache takes a time with a unit: write 100ms
// A number without a unit as the time for which a released lock is kept.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;
using latchkey::LockType;

int call() {
  return LOCKED("key", LockType::WRITE, 3s, 30s).cache(100) AROUND() { return 1; };
}
