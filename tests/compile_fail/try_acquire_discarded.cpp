// expect: a lock is held for as long as its Hold lives: if \(auto hold = lock.try_acquire
// The lock is released at the semicolon.
#include <latchkey/latchkey.hpp>

void call(const latchkey::Locks& locks) { locks.lock("key").try_acquire(); }
