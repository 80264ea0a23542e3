// expect: await a LOCKED around a coroutine in the same expression
#include <latchkey/asio.hpp>
#include <latchkey/latchkey.hpp>

#include <boost/asio/awaitable.hpp>

namespace asio = boost::asio;

struct Account {
  int id;
};

auto call(Account account) {
  return LOCKED("account:{account.id}") AROUND(account)->asio::awaitable<int> {
    co_return account.id;
  };
}
