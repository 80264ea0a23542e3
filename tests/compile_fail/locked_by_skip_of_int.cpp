// expect: 'it did not happen' can be told
// A strategy behind LOCKED_BY that the result cannot honour.
#include <latchkey/latchkey.hpp>

int call() {
  return LOCKED_BY("money").on_timeout(latchkey::strategy::skip) AROUND() { return 1; };
}
