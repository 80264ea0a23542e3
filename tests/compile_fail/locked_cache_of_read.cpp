// expect: a READ is not kept after its release
// A time for which a released READ would be kept.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;
using latchkey::LockType;

int call() {
  return LOCKED("key", LockType::READ, 3s, 30s).cache(100ms) AROUND() { return 1; };
}
