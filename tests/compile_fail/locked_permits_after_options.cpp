// expect: \.permits\(n\) makes the key a semaphore, and the type in LOCKED is that of a lock
// Permits of a lock, after other options.
#include <latchkey/latchkey.hpp>

using enum latchkey::LockType;

void call(const latchkey::Locks& locks) {
  LOCKED("exports", FAIR).in(locks).on_timeout(latchkey::strategy::skip).permits(3, 2) AROUND(){};
}
