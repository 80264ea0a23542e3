// expect: latchkey: the lease is longer than held_at_most allows
// A lease that ends after the limit of its hold.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::locked("account:{account.id}", LockType::WRITE, 3s, 30s).held_at_most(10s)]] long
  deposit(const Account& account) {
    LOCK_ANNOTATED;
    return account.id;
  }
};
