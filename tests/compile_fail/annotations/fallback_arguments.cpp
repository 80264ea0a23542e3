// expect: latchkey: the function given to `fallback` is called with the arguments
// A fallback for other arguments.
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
          .on_timeout(latchkey::strategy::fallback([](int, int) { return 1L; }))]] long
  deposit(const Account& account) {
    LOCK_ANNOTATED;
    return account.id;
  }
};
