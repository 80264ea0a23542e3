// expect: latchkey: hold_for is longer than the lease
// A key that would outlive its lease.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::locked("account:{account.id}", LockType::WRITE, 3s, 1s).hold_for(2s)]] long deposit(
      const Account& account) {
    LOCK_ANNOTATED;
    return account.id;
  }
};
