// expect: the fourth argument of LOCKED is the lease: a std::chrono duration
// A lease that is no duration.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

int call() {
  return LOCKED("key", LockType::WRITE, 3s, "30s") AROUND() { return 1; };
}
