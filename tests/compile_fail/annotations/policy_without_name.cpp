// expect: latchkey: locked_by needs the name of a policy
// A policy without a name.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::locked_by("")]] long deposit(const Account& account) {
    LOCK_ANNOTATED;
    return account.id;
  }
};
