// expect: await a LOCKED around a coroutine in the same expression
#include <latchkey/asio.hpp>
#include <latchkey/latchkey.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/detached.hpp>

namespace asio = boost::asio;

struct Account {
  int id;
};

void call(Account account) {
  (LOCKED("account:{account.id}") AROUND(account)->asio::awaitable<void> { co_return; })(
      asio::detached);
}
