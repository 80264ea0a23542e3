// expect: error: .*placeholder_is_never_closed<.*"\{account.id"
// The word stands in the line of the error.
#include <latchkey/latchkey.hpp>

struct Account {
  int id;
};

int call(const Account& account) {
  return LOCKED("key:{account.id") AROUND(account) { return account.id; };
}
