// expect: latchkey: key 'account:\{account.id', column 9: '\{account.id' is never closed: '\}' is missing
// A placeholder without its end.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::locked("account:{account.id")]] long deposit(const Account& account) {
    LOCK_ANNOTATED;
    return account.id;
  }
};
