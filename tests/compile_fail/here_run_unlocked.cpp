// expect: skip_with, fallback and run_unlocked_dangerously need AROUND
// A scope has no body.
#include <latchkey/latchkey.hpp>

void call() {
  auto hold = LOCKED("key").on_timeout(latchkey::strategy::run_unlocked_dangerously) HERE();
}
