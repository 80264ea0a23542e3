// expect: `skip` needs a result from which 'it did not happen' can be told
// Two aspects, of which the inner one is wrong.
#include <latchkey/latchkey.hpp>

int call() {
  return LOCKED("outer") | LOCKED("inner").on_timeout(latchkey::strategy::skip) AROUND() {
    return 1;
  };
}
