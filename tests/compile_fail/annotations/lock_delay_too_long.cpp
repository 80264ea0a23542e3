// expect: latchkey: lock_delay takes a time from 10 ms to 24 hours
// A time for which nobody would be granted for days.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::locked("account:{account.id}", LockType::WRITE, 3s, 30s).lock_delay(48h)]] long
  deposit(const Account& account) {
    LOCK_ANNOTATED;
    return account.id;
  }
};
