// expect: could run into the value before it: put one of
// Two values without a separator.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::locked("{account.id}{account.owner}")]] long deposit(const Account& account) {
    LOCK_ANNOTATED;
    return account.id;
  }
};
