// expect: 'acount' is no argument; expected one of account
// The key of once_per is checked, too.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::once_per("report:{acount.id}", 15min)]] void deposit(const Account& account) {
    AROUND_ANNOTATED{};
  }
};
