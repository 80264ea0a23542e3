// expect: no_field_named<.*"idd".*Account.*"id".*"name".*"rate"
#include <latchkey/key.hpp>

struct Account {
  int id;
  std::string name;
  double rate;
};

void use() { latchkey::Key<"account:{account.idd}">::check<"account", Account>(); }
