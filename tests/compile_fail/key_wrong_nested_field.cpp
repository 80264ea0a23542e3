// expect: no_field_named<.*"zipp".*Address.*"zip"
#include <latchkey/key.hpp>

struct Address {
  std::string zip;
};
struct Account {
  int id;
  Address home;
};

void use() { latchkey::Key<"{account.home.zipp}">::check<"account", Account>(); }
