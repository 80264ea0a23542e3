// expect: a period has a unit
// A period without a unit.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;

void call(int day) { LOCKED_ONCE_PER("k:{day}", 15) AROUND(day){}; }
