// expect: latchkey: on_timeout takes raise, skip, skip_with
// report is no strategy of a timeout.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::locked("account:{account.id}").on_timeout(latchkey::strategy::report)]] long
  deposit(const Account& account) {
    LOCK_ANNOTATED;
    return account.id;
  }
};
