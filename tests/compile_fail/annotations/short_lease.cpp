// expect: a lease is at least 10 ms
// A lease below 10 ms.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::locked("account:{account.id}", LockType::WRITE, 3s, 5ms)]] long deposit(
      const Account& account) {
    LOCK_ANNOTATED;
    return account.id;
  }
};
