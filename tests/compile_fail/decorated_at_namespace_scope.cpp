// expect: DECORATED_stands_in_a_class_and_a_free_function_takes_LOCKED_AROUND
// A free function.
#include <latchkey/latchkey.hpp>

DECORATED(LOCKED("key"), int, call, (int)id) { return id; }
