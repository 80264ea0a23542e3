// expect: latchkey: the value given to `skip_with` is not copied into the body's Result
// A value that does not become the result.
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
          .on_timeout(latchkey::strategy::skip_with(nullptr))]] long
  deposit(const Account& account) {
    LOCK_ANNOTATED;
    return account.id;
  }
};
