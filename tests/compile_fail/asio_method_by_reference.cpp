// expect: a coroutine may run when an argument that it takes by reference is dead: take it by
#include <latchkey/asio.hpp>
#include <latchkey/latchkey.hpp>

#include <boost/asio/awaitable.hpp>

namespace asio = boost::asio;

struct Account {
  int id;
};

class Bank {
 public:
  DECORATED(LOCKED("account:{account.id}"), asio::awaitable<int>, balance,
            (const Account&) account) {
    co_return account.id;
  }
};
