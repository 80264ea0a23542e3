// expect: (held|holds) .*for as long as its (result|Hold) lives: auto hold =
// The discarded Hold may be empty.
#include <latchkey/latchkey.hpp>

void call() { LOCKED("key").on_timeout(latchkey::strategy::skip) HERE(); }
