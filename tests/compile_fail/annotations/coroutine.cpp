// expect: latchkey: LOCK_ANNOTATED: Bank::deposit returns an asio::awaitable, whose body runs after
// A coroutine runs after its function has returned.
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
  [[= latchkey::locked("account:{account.id}")]] boost::asio::awaitable<int> deposit(
      Account account) {
    LOCK_ANNOTATED;
    co_return static_cast<int>(account.id);
  }
};
