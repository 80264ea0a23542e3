// expect: the key of LOCKED is a literal
// A key that is known at run time only.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;

void call(const char* key) { LOCKED_ONCE_PER(key, 15min) AROUND(){}; }
