// expect: the result of this body runs later, when the lock is free again
// A lambda that touches what was protected.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

auto call(int& counter) {
  return LOCKED("key") AROUND(counter) {
    return [&counter] { return ++counter; };
  };
}
