// expect: the_percent_sign_needs_an_integer<.*"account.name".*string
#include <latchkey/key.hpp>

struct Account {
  int id;
  std::string name;
  double rate;
};

void use() { latchkey::Key<"{account.name % 8}">::check<"account", Account>(); }
