// expect: acquire and try_acquire block their thread and give a Hold, which is not awaited
// The blocking function in a coroutine.
#include <latchkey/asio.hpp>
#include <latchkey/latchkey.hpp>

#include <boost/asio/awaitable.hpp>

namespace asio = boost::asio;

asio::awaitable<void> call(latchkey::Locks locks) {
  if (auto hold = co_await locks.lock("key").try_acquire()) co_return;
}
