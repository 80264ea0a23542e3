// expect: the result of this body runs later, when the lock is free again
// latchkey/asio.hpp is missing.
#include <latchkey/latchkey.hpp>

#include <boost/asio/awaitable.hpp>

namespace asio = boost::asio;

struct Account {
  int id;
};

asio::awaitable<int> call(Account account) {
  co_return co_await (LOCKED("account:{account.id}") AROUND(account)->asio::awaitable<int> {
    co_return account.id;
  });
}
