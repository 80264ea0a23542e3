// expect: `skip` needs a result from which 'it did not happen' can be told
// false may mean anything.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

bool call() {
  return LOCKED("key").on_unavailable(latchkey::strategy::skip) AROUND() { return true; };
}
