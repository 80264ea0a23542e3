// expect: HERE has no body whose result on_timeout could give
// A scope has no result.
#include <latchkey/latchkey.hpp>

void call() {
  auto hold = LOCKED("key").on_timeout(latchkey::strategy::fallback([] {})) HERE();
}
