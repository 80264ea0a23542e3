// expect: error: .*placeholder_is_never_closed<.*"\{to.id"
// The second of several keys.
#include <latchkey/latchkey.hpp>

struct Account {
  int id;
};

void call(const Account& from, const Account& to) {
  LOCKED(KEYS("account:{from.id}", "account:{to.id")) AROUND(from, to){};
}
