// expect: latchkey: LOCK_ANNOTATED: the result of Bank::deposit is deduced
// A result that is deduced.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::locked("account:{account.id}")]] auto deposit(const Account& account) {
    LOCK_ANNOTATED;
    return account.id;
  }
};
