// expect: there is no argument 1: the function has 1, counted from 0
// A position beyond the last parameter.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::locked("account:{1}")]] long deposit(const Account& account) {
    LOCK_ANNOTATED;
    return account.id;
  }
};
