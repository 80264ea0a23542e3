// expect: latchkey: a READ and a PERMIT have no fencing token
// A fencing token of a lock that several hold at a time.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::locked("account:{account.id}", LockType::READ, 3s, 30s).fenced()]] long deposit(
      const Account& account) {
    LOCK_ANNOTATED;
    return account.id;
  }
};
