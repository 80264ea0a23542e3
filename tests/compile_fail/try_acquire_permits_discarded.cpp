// expect: permits are held for as long as their Hold lives: if \(auto hold = semaphore.try_acquire
// The permit is released at the semicolon.
#include <latchkey/latchkey.hpp>

void call(const latchkey::Locks& locks) { locks.semaphore("key", 3).try_acquire(); }
