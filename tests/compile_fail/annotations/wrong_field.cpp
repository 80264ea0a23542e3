// expect: 'idd' is no field of Account; expected one of id, balance, owner
// A key that names no field.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::locked("account:{account.idd}")]] long deposit(const Account& account) {
    LOCK_ANNOTATED;
    return account.id;
  }
};
