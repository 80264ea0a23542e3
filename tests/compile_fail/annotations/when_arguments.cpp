// expect: latchkey: `.when` takes a bool, or a function that is called with the arguments
// A condition for other arguments.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::locked("account:{account.id}").when([](int, int) { return true; })]] long deposit(
      const Account& account) {
    LOCK_ANNOTATED;
    return account.id;
  }
};
