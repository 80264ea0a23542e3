// expect: an_object_makes_no_key_name_a_field<.*"account".*Account.*"id".*"name".*"rate"
#include <latchkey/key.hpp>

struct Account {
  int id;
  std::string name;
  double rate;
};

void use() { latchkey::Key<"{account}">::check<"account", Account>(); }
