// expect: LOCKED\(...\) alone locks nothing and has no result: .*auto hold = LOCKED\(...\) HERE
// A scope without HERE.
#include <latchkey/latchkey.hpp>

void call() { latchkey::Hold hold = LOCKED("key"); }
