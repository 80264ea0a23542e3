// expect: which a result by reference would outlive: say fallback
// A reference to a value in the decorator.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

int& call(int& slot) {
  return LOCKED("key").on_timeout(latchkey::strategy::skip_with(1)) AROUND(slot)->int& {
    return slot;
  };
}
