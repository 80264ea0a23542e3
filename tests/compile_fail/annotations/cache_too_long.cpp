// expect: latchkey: cache takes a time from 0, for none, to 10 s
// A time for which a released lock would be kept longer than any.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::locked("account:{account.id}", LockType::WRITE, 3s, 30s).cache(11s)]] long deposit(
      const Account& account) {
    LOCK_ANNOTATED;
    return account.id;
  }
};
