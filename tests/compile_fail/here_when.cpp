// expect: HERE always takes the lock: instead of .when\(condition\) write
// A scope that may not lock.
#include <latchkey/latchkey.hpp>

void call() { auto hold = LOCKED("key").when(true) HERE(); }
