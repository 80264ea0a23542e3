// expect: to call a decorated callable on the spot, put it in parentheses
// A call that binds to the terms.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

int call() {
  return LOCKED("key:{0}")([](int value) { return value; })(1);
}
