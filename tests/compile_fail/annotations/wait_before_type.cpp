// expect: latchkey: after the key LOCKED takes a LockType, then a wait, then a lease
// The terms in the wrong order.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::locked("account:{account.id}", 3s, LockType::WRITE)]] long deposit(
      const Account& account) {
    LOCK_ANNOTATED;
    return account.id;
  }
};
