// expect: a loss is told to the listener, so on_lost\(raise\) needs AROUND
// A destructor cannot throw.
#include <latchkey/latchkey.hpp>

void call() { auto hold = LOCKED("key").on_lost(latchkey::strategy::raise) HERE(); }
