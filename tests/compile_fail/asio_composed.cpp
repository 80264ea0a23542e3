// expect: nothing is composed with LOCKED\(\.\.\.\) around a coroutine
#include <latchkey/asio.hpp>
#include <latchkey/latchkey.hpp>

#include <boost/asio/awaitable.hpp>

namespace asio = boost::asio;

struct Account {
  int id;
};

struct Timed : latchkey::Aspect {
  template <class Proceed>
  decltype(auto) around(latchkey::JoinPoint&, Proceed&& proceed) {
    return proceed();
  }
};

asio::awaitable<int> call(Account account) {
  co_return co_await (Timed() |
                      LOCKED("account:{account.id}") AROUND(account)->asio::awaitable<int> {
                        co_return account.id;
                      });
}
