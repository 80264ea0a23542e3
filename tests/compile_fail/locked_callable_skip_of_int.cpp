// expect: `skip` needs a result from which 'it did not happen' can be told
// A decorated callable, when it is called.
#include <latchkey/latchkey.hpp>

int call() {
  auto function =
      LOCKED("key").on_timeout(latchkey::strategy::skip)([](int value) { return value; });
  return function(1);
}
