// expect: latchkey: Bank::Bank is a constructor: an object that is being made
// A constructor.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::locked("account:{account.id}")]] explicit Bank(const Account& account) {
    LOCK_ANNOTATED;
    static_cast<void>(account);
  }
};
