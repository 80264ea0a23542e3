// expect: the function given to `fallback` is called with the arguments named in AROUND
// A fallback that takes something else.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

int call(int number) {
  return LOCKED("key").on_timeout(latchkey::strategy::fallback([](const Account&) { return 1; }))
      AROUND(number) {
    return number;
  };
}
