// expect: latchkey: LOCK_ANNOTATED takes the one lock of Bank::deposit, which has other annotations too: write AROUND_ANNOTATED
// The word for one lock, and another aspect.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Noted : latchkey::Aspect {
  template <class Proceed>
  decltype(auto) around(latchkey::JoinPoint&, Proceed&& proceed) const {
    return proceed();
  }
};

struct Bank {
  [[ = Noted{}, = latchkey::locked("account:{account.id}") ]] long deposit(const Account& account) {
    LOCK_ANNOTATED;
    return account.id;
  }
};
