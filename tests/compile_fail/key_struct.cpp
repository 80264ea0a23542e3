// expect: an_object_makes_no_key_name_a_field_or_write_latchkey_key<.*"account".*Account.*"id".*"name".*"rate"
#include <latchkey/key.hpp>

struct Account {
  int id;
  std::string name;
  double rate;
};

void use() { latchkey::Key<"{account}">::check<"account", Account>(); }
