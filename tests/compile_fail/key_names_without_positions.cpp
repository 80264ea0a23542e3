// expect: arguments_have_only_positions_here<.*"account"
#include <latchkey/key.hpp>

struct Account {
  int id;
  std::string name;
  double rate;
};

void use() { latchkey::Key<"{account.id}">::check<"", Account>(); }
