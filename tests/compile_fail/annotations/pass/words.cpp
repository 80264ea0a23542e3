// Correct code, of which the cases are variations.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
};

struct Bank {
  [[= latchkey::locked("account:{account.id}", LockType::WRITE, 3s, 30s)]] long deposit(
      const Account& account) {
    LOCK_ANNOTATED;
    return account.id;
  }
  [[= latchkey::locked("account:{account.id}")]] long balance(const Account& account) const {
    AROUND_ANNOTATED { return account.id; };
  }
};

long both() { return Bank().deposit({}) + Bank().balance({}); }
