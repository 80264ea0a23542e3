// expect: 'account' is no argument
// A key that names a parameter without a name.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::locked("account:{account.id}")]] long deposit(const Account&, long id) {
    LOCK_ANNOTATED;
    return id;
  }
};
