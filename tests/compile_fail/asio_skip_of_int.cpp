// expect: `skip` needs a result from which
#include <latchkey/asio.hpp>
#include <latchkey/latchkey.hpp>

#include <boost/asio/awaitable.hpp>

namespace asio = boost::asio;

struct Account {
  int id;
};

asio::awaitable<int> call(Account account) {
  co_return co_await (LOCKED("account:{account.id}")
                          .on_timeout(latchkey::strategy::skip) AROUND(account)
                          ->asio::awaitable<int> { co_return account.id; });
}
