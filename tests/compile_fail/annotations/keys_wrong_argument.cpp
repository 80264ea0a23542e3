// expect: in 'b:\{acount.id\}': 'acount' is no argument; expected one of account
// The second key of KEYS is wrong.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::locked(KEYS("a:{account.id}", "b:{acount.id}"))]] long deposit(
      const Account& account) {
    LOCK_ANNOTATED;
    return account.id;
  }
};
