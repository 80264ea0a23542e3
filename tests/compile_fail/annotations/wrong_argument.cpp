// expect: latchkey: key 'account:\{acount.id\}' of Bank::deposit: 'acount' is no argument; expected one of account
// A key that names no parameter.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::locked("account:{acount.id}")]] long deposit(const Account& account) {
    LOCK_ANNOTATED;
    return account.id;
  }
};
