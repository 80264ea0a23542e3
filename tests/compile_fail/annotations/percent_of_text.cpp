// expect: '%' needs an integer before it
// A remainder of a text.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::locked("account:{account.owner % 3}")]] long deposit(const Account& account) {
    LOCK_ANNOTATED;
    return account.id;
  }
};
