// expect: LOCKED_ONCE_PER needs a period after its key
// The period is missing.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;

void call(int day) { LOCKED_ONCE_PER("k:{day}") AROUND(day){}; }
