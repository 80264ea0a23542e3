// expect: co_await binds to LOCKED\(\.\.\.\) alone: put the whole in parentheses
#include <latchkey/asio.hpp>
#include <latchkey/latchkey.hpp>

#include <boost/asio/awaitable.hpp>

namespace asio = boost::asio;

struct Account {
  int id;
};

asio::awaitable<void> call(Account account) {
  co_await LOCKED_BY("money") AROUND(account)->asio::awaitable<void> { co_return; };
}
