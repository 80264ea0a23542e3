// expect: latchkey: .permits\(total, taken\) needs 1 <= taken <= total
// No permits.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::locked("account:{account.id}").permits(0)]] long deposit(const Account& account) {
    LOCK_ANNOTATED;
    return account.id;
  }
};
