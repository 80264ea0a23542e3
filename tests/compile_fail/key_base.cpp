// expect: type_has_a_base_write_LATCHKEY_FIELDS<.*"id".*Savings
#include <latchkey/key.hpp>

struct Account {
  int id;
};
struct Savings : Account {
  int rate;
};

void use() { latchkey::Key<"{account.id}">::check<"account", Savings>(); }
