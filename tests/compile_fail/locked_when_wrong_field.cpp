// expect: error: .*no_field_named<.*"frozn".*Account
// The key expression of a condition.
#include <latchkey/latchkey.hpp>

struct Account {
  int id;
  bool frozen;
};

void call(const Account& account) {
  LOCKED("key:{account.id}").when<"{account.frozn}">() AROUND(account){};
}
