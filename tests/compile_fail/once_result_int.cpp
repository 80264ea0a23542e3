// expect: most calls of LOCKED_ONCE_PER do not run their body
// A result that cannot tell that the body did not run.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;

int call(int day) {
  return LOCKED_ONCE_PER("k:{day}", 15min) AROUND(day) { return day; };
}
