// expect: 'account' is a Account: an object makes no key; name a field
// An object without a field.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::locked("account:{account}")]] long deposit(const Account& account) {
    LOCK_ANNOTATED;
    return account.id;
  }
};
