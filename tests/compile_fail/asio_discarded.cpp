// expect: a coroutine is awaited: co_await \(LOCKED
#include <latchkey/asio.hpp>
#include <latchkey/latchkey.hpp>

#include <boost/asio/awaitable.hpp>

namespace asio = boost::asio;

struct Account {
  int id;
};

asio::awaitable<void> call(Account account) {
  LOCKED("account:{account.id}") AROUND(account)->asio::awaitable<void> { co_return; };
  co_return;
}
