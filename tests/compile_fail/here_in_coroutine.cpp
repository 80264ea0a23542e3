// expect: HERE in a coroutine: its lock belongs to the thread
// Another coroutine of the thread would re-enter the lock.
#include <latchkey/latchkey.hpp>

#include <boost/asio/awaitable.hpp>

namespace asio = boost::asio;

struct Account {
  int id;
};

asio::awaitable<void> pay(Account account);

asio::awaitable<void> call(Account account) {
  auto hold = LOCKED("account:{account.id}") HERE(account);
  co_await pay(account);
}
