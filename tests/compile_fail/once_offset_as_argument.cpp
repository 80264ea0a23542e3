// expect: LOCKED_ONCE_PER takes a key, a period and perhaps OncePerOptions, which name the offset
// Two durations, whose order nobody sees.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;

void call(int day) { LOCKED_ONCE_PER("k:{day}", 24h, 3h) AROUND(day){}; }
