// expect: 'x' follows a long( int)?, which has no fields
// A number has no fields.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::locked("account:{account.id.x}")]] long deposit(const Account& account) {
    LOCK_ANNOTATED;
    return account.id;
  }
};
