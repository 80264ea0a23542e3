// expect: a_key_has_no_zero_byte
// A key with a zero byte.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::locked("account:\0{account.id}")]] long deposit(const Account& account) {
    LOCK_ANNOTATED;
    return account.id;
  }
};
