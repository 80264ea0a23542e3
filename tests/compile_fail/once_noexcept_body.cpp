// expect: this body is noexcept, but LOCKED_ONCE_PER may throw
// A method that cannot pass on a loss.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;

struct Jobs {
  DECORATED(LOCKED_ONCE_PER("k:{day}", 15min), void, call, (noexcept), (int) day) {
    static_cast<void>(day);
  }
};
