// expect: a decorator can be applied to a function or to an object with one operator
// A callable without one signature.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

auto call = LOCKED("key:{0}")([](auto value) { return value; });
