// expect: latchkey: Bank::deposit has two annotations \[\[=latchkey::locked\(...\)\]\]
// Two locks on one function.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[ = latchkey::locked("account:{account.id}"), = latchkey::locked("bank") ]] long deposit(
      const Account& account) {
    LOCK_ANNOTATED;
    return account.id;
  }
};
