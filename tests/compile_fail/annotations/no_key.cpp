// expect: latchkey: locked needs a key, as in
// No key at all.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::locked()]] long deposit(const Account& account) {
    LOCK_ANNOTATED;
    return account.id;
  }
};
