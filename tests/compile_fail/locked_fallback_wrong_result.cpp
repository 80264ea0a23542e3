// expect: the function given to `fallback` returns what does not convert
// A fallback that gives something else.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

int call(int number) {
  return LOCKED("key").on_timeout(latchkey::strategy::fallback([] { return "text"; }))
      AROUND(number) {
    return number;
  };
}
