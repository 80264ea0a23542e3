// expect: latchkey: Bank::deposit has two annotations \[\[=latchkey::locked\(...\)\]\], perhaps on two of its declarations
// An annotation on both declarations.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::locked("account:{account.id}")]] long deposit(const Account& account);
};

[[= latchkey::locked("account:{account.id}")]] long Bank::deposit(const Account& account) {
  LOCK_ANNOTATED;
  return account.id;
}
