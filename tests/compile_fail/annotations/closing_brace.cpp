// expect: '\}' closes nothing: write '\}\}' for a brace that is text
// A closing brace alone.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::locked("account:id}")]] long deposit(const Account& account) {
    LOCK_ANNOTATED;
    return account.id;
  }
};
