// expect: latchkey: the result of this body runs later
// A result that runs later.
#include <future>

#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::locked("account:{account.id}")]] std::future<int> deposit(const Account& account) {
    LOCK_ANNOTATED;
    return std::async([&] { return static_cast<int>(account.id); });
  }
};
