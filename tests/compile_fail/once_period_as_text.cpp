// expect: what follows the key of LOCKED_ONCE_PER is its period
// A period as text.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;

void call(int day) { LOCKED_ONCE_PER("k:{day}", "15min") AROUND(day){}; }
