// expect: latchkey: a period has a unit: write 15min
// A period without a unit.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::once_per("report", 15)]] long deposit(const Account& account) {
    LOCK_ANNOTATED;
    return account.id;
  }
};
