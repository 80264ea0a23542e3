// A coroutine under a lock, in a project of its own.
#include <latchkey/asio.hpp>
#include <latchkey/latchkey.hpp>

#include <chrono>
#include <exception>
#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;
namespace asio = boost::asio;

namespace {

class Orders {
 public:
  DECORATED(LOCKED("order:{id}", LockType::WRITE, 1s, 30s), asio::awaitable<std::string>, ship,
            (std::string) id) {
    ASSERT_HELD("order:{id}", id);
    co_return "shipped " + id;
  }
};

}  // namespace

int main() {
  const auto locks = latchkey::Locks::connect("memory:");
  latchkey::install(locks);
  asio::io_context context;
  Orders orders;
  std::string result;
  const auto work = [&]() -> asio::awaitable<void> {
    result = co_await orders.ship("42");
    const int number = co_await (LOCKED("number") AROUND()->asio::awaitable<int> { co_return 1; });
    result += std::to_string(number);
  };
  asio::co_spawn(context, work(), [](const std::exception_ptr& error) {
    if (error) std::rethrow_exception(error);
  });
  context.run();
  return result == "shipped 421" ? 0 : 1;
}
