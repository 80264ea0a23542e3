// expect: 'lowr' is an unknown function; expected one of lower, upper, hash, size, raw
// A function that keys do not have.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::locked("account:{lowr(account.owner)}")]] long deposit(const Account& account) {
    LOCK_ANNOTATED;
    return account.id;
  }
};
