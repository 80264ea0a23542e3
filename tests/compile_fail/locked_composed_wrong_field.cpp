// expect: error: .*no_field_named<.*"idd".*Account
// Two aspects, of which the inner one has a wrong key.
#include <latchkey/latchkey.hpp>

struct Account {
  int id;
};

int call(const Account& account) {
  return LOCKED("outer") | LOCKED("account:{account.idd}") AROUND(account) { return account.id; };
}
