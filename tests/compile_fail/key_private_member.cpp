// expect: members_are_private_or_set_by_a_constructor_write_LATCHKEY_FIELDS<.*"id".*Account
#include <latchkey/key.hpp>

class Account {
 public:
  explicit Account(int number) : id(number) {}

 private:
  int id;
};

void use() { latchkey::Key<"{account.id}">::check<"account", Account>(); }
