// expect: 'account.balance' is a double: a floating-point number makes no key
// A floating-point number.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::locked("account:{account.balance}")]] long deposit(const Account& account) {
    LOCK_ANNOTATED;
    return account.id;
  }
};
