// expect: latchkey: the key of locked is a literal
// A key that is no literal.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

constexpr const char* name = "account";

struct Bank {
  [[= latchkey::locked(name)]] long deposit(const Account& account) {
    LOCK_ANNOTATED;
    return account.id;
  }
};
