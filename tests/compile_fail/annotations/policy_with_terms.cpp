// expect: latchkey: locked_by takes the name of a policy and nothing else
// A policy supplies the terms itself.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::locked_by("money", LockType::WRITE)]] long deposit(const Account& account) {
    LOCK_ANNOTATED;
    return account.id;
  }
};
