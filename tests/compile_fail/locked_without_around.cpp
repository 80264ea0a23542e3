// expect: LOCKED\(...\) alone locks nothing: write LOCKED\(...\) AROUND\(arguments\) \{ body \}
// A body without AROUND.
#include <latchkey/latchkey.hpp>

struct Account {
  int id;
};

int number = 0;

void call(const Account& account) {
  LOCKED("key:{account.id}") { ++number; }
}
