// expect: no_field_named<.*"idd".*Account.*"id"
#include <latchkey/key.hpp>

class Account {
 public:
  int id() const;
  LATCHKEY_FIELDS(Account, id);
};

void use() { latchkey::Key<"{account.idd}">::check<"account", Account>(); }
