// expect: latchkey: LOCK_ANNOTATED: Bank::deposit has no annotation: write
// The word without an annotation.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  long deposit(const Account& account) {
    LOCK_ANNOTATED;
    return account.id;
  }
};
