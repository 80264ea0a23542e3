// expect: type_has_a_C_array_write_LATCHKEY_FIELDS<.*"id".*Account
#include <latchkey/key.hpp>

struct Account {
  int id;
  char name[8];
};

void use() { latchkey::Key<"{account.id}">::check<"account", Account>(); }
