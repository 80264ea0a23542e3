// expect: latchkey: Bank::deposit and Base::deposit, which it overrides, have different annotations
// Two annotations that differ.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Base {
  virtual ~Base() = default;
  [[= latchkey::locked("account:{account.id}")]] virtual long deposit(const Account& account) = 0;
};
struct Bank : Base {
  [[= latchkey::locked("account:{account.id}", LockType::READ)]] long deposit(
      const Account& account) override {
    LOCK_ANNOTATED;
    return account.id;
  }
};
