// expect: AROUND takes the names of parameters or variables
// An expression where a name belongs.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

int call(const Account& account) {
  return LOCKED("account:{0}") AROUND(account.id) { return 1; };
}
