// expect: the result of this body runs later
// The work would be done after the instant is marked.
#include <latchkey/latchkey.hpp>

#include <chrono>
#include <future>
#include <optional>

using namespace std::chrono_literals;

std::optional<std::future<int>> call(int day) {
  return LOCKED_ONCE_PER("k:{day}", 15min) AROUND(day)->std::optional<std::future<int>> {
    return std::async([day] { return day; });
  };
}
