// expect: `skip` needs a result from which 'it did not happen' can be told
// skip where no int says that nothing happened.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

int call() {
  return LOCKED("key").on_timeout(latchkey::strategy::skip) AROUND() { return 1; };
}
