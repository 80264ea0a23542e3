// expect: latchkey: the body returns nothing, so there is nothing to `skip_with`
// A value for no result.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::locked("account:{account.id}").on_timeout(latchkey::strategy::skip_with(1))]] void
  deposit(const Account& account) {
    LOCK_ANNOTATED;
  }
};
