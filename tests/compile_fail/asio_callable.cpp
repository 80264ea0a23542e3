// expect: await a LOCKED around a coroutine in the same expression
#include <latchkey/asio.hpp>
#include <latchkey/latchkey.hpp>

#include <boost/asio/awaitable.hpp>

namespace asio = boost::asio;

struct Account {
  int id;
};

void call() {
  const auto function = LOCKED("account:{0}")([](int id) -> asio::awaitable<int> { co_return id; });
  static_cast<void>(function(1));
}
