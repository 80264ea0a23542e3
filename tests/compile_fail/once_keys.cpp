// expect: LOCKED_ONCE_PER has one key: KEYS and
// Several keys.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;

void call(int day) { LOCKED_ONCE_PER(KEYS("a:{day}", "b:{day}"), 15min) AROUND(day){}; }
