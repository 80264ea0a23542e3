// expect: latchkey: the function given to `fallback` returns what does not convert
// A fallback with another result.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::locked("account:{account.id}").on_timeout(latchkey::strategy::fallback([] {
    return nullptr;
  }))]] long
  deposit(const Account& account) {
    LOCK_ANNOTATED;
    return account.id;
  }
};
