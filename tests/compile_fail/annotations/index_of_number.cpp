// expect: indexes a long( int)?: a number indexes containers
// A number cannot be indexed.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::locked("account:{account.id[0]}")]] long deposit(const Account& account) {
    LOCK_ANNOTATED;
    return account.id;
  }
};
