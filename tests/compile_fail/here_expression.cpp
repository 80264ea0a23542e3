// expect: HERE takes the names of parameters or variables
// An expression where a name belongs.
#include <latchkey/latchkey.hpp>

struct Account {
  int id;
};

void call(const Account& account) { auto hold = LOCKED("key:{0}") HERE(account.id); }
