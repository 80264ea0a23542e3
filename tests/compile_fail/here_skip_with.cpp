// expect: HERE has no body whose result on_unavailable could give
// A scope has no result.
#include <latchkey/latchkey.hpp>

void call() { auto hold = LOCKED("key").on_unavailable(latchkey::strategy::skip_with(1)) HERE(); }
