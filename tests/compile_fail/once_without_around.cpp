// expect: LOCKED_ONCE_PER\(...\) alone runs nothing
// The body is missing.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;

void call() { LOCKED_ONCE_PER("k", 15min); }
