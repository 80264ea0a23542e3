// expect: await a LOCKED around a coroutine in the same expression
// No coroutine of Asio.
#include <latchkey/asio.hpp>
#include <latchkey/latchkey.hpp>

#include <coroutine>

#include <boost/asio/awaitable.hpp>

namespace asio = boost::asio;

struct Account {
  int id;
};

struct Task {
  struct promise_type {
    Task get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
};

Task call(Account account) {
  co_await (LOCKED("account:{account.id}") AROUND(account)->asio::awaitable<void> { co_return; });
}
