// expect-gcc: this compiler destroys some temporaries of a co_await expression twice|no GCC since 15
// expect-clang: clang destroys them once
#include <latchkey/asio.hpp>
#include <latchkey/latchkey.hpp>

#include <string>

#include <boost/asio/awaitable.hpp>

namespace asio = boost::asio;

struct Account {
  int id;
};

#ifdef __clang__
#error "clang destroys them once"
#elif __GNUC__ >= 15
#error "no GCC since 15 destroys them twice"
#endif

asio::awaitable<std::string> call(Account account) {
  co_return co_await (LOCKED("account:{account.id}")
                          .on_timeout(latchkey::strategy::skip_with(std::string("busy")))
                              AROUND(account)
                          ->asio::awaitable<std::string> { co_return "ran"; });
}
