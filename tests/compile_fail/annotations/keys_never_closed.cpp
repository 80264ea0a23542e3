// expect: '\{account.id' is never closed: '\}' is missing
// The second key of KEYS has a wrong syntax.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::locked(KEYS("a:{account.id}", "b:{account.id"))]] long deposit(
      const Account& account) {
    LOCK_ANNOTATED;
    return account.id;
  }
};
