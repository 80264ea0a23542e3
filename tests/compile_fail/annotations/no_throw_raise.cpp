// expect: latchkey: on_timeout\(raise\) throws, and .no_throw\(\) was said before it
// Two options that contradict each other.
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
          .no_throw()
          .on_timeout(latchkey::strategy::raise)]] long
  deposit(const Account& account) {
    LOCK_ANNOTATED;
    return account.id;
  }
};
