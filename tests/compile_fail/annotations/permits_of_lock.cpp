// expect: latchkey: .permits\(n\) makes the key a semaphore
// Permits of a lock.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::locked("account:{account.id}", LockType::WRITE).permits(3)]] long deposit(
      const Account& account) {
    LOCK_ANNOTATED;
    return account.id;
  }
};
