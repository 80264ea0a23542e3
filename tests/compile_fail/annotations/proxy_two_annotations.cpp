// expect: latchkey: Bank::deposit has two annotations
// Two locks on a function that a proxy calls.
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
    return account.id;
  }
};

auto called(latchkey::Annotated<Bank>& bank) { return bank->deposit(Account{}); }
