// expect: the body returns nothing, so there is nothing to `skip_with`: say skip
// A value for a body without one.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

void call() { LOCKED("key").on_timeout(latchkey::strategy::skip_with(1)) AROUND(){}; }
