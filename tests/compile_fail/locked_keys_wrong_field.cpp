// expect: error: .*no_field_named<.*"idd".*Account
// The second of several keys.
#include <latchkey/latchkey.hpp>

struct Account {
  int id;
};

void call(const Account& from, const Account& to) {
  LOCKED(KEYS("account:{from.id}", "account:{to.idd}")) AROUND(from, to){};
}
