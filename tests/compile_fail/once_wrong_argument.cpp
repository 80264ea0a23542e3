// expect: no_argument_named<.*"month"
// The key names no argument.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;

void call(int day) { LOCKED_ONCE_PER("k:{month}", 15min) AROUND(day){}; }
