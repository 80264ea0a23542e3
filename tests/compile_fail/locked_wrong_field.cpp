// expect: error: .*no_field_named<.*"idd".*Account
// The word stands in the line of the error.
#include <latchkey/latchkey.hpp>

struct Account {
  int id;
};

int call(const Account& account) {
  return LOCKED("key:{account.idd}") AROUND(account) { return account.id; };
}
