// expect: await a LOCKED around a coroutine in the same expression
#include <latchkey/asio.hpp>
#include <latchkey/latchkey.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

namespace asio = boost::asio;

struct Account {
  int id;
};

void call(asio::io_context& context, Account account) {
  asio::co_spawn(
      context, LOCKED("account:{account.id}") AROUND(account)->asio::awaitable<void> { co_return; },
      asio::detached);
}
