// expect: latchkey: on_unavailable takes raise, skip, skip_with
// Only a timeout may run without the lock.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::locked("account:{account.id}")
          .on_unavailable(latchkey::strategy::run_unlocked_dangerously)]] long
  deposit(const Account& account) {
    LOCK_ANNOTATED;
    return account.id;
  }
};
