// expect: latchkey: Bank::deposit is a coroutine, which may run when its argument 'account' is dead: take it by value
// A coroutine whose argument may be dead when it runs.
#include <latchkey/asio.hpp>

#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::locked("account:{account.id}")]] boost::asio::awaitable<long> deposit(
      const Account& account) {
    co_return account.id;
  }
};

auto called(latchkey::Annotated<Bank>& bank) { return bank->deposit(Account{}); }
