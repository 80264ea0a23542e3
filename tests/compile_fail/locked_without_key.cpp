// expect: LOCKED needs a key
// No key at all.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

int call() {
  return LOCKED() AROUND() { return 1; };
}
