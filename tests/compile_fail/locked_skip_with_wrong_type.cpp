// expect: the value given to `skip_with` is not copied into the body
// A value of another type.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

int call() {
  return LOCKED("key").on_timeout(latchkey::strategy::skip_with("none")) AROUND() { return 1; };
}
