// expect: latchkey: most calls of LOCKED_ONCE_PER do not run their body
// A result that cannot say that nothing ran.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::once_per("report", 15min)]] long deposit(const Account& account) {
    AROUND_ANNOTATED { return account.id; };
  }
};
