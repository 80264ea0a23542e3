// expect: error: .*no_field_named<.*"idd".*Account
// A key that does not fit.
#include <latchkey/latchkey.hpp>

struct Account {
  int id;
};

void call(const Account& account) { auto hold = LOCKED("key:{account.idd}") HERE(account); }
