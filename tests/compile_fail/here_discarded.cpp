// expect: (held|holds) .*for as long as its (result|Hold) lives: auto hold =
// A hold that ends where it begins.
#include <latchkey/latchkey.hpp>

void call() { LOCKED("key") HERE(); }
