// expect: a_floating_point_number_makes_no_key<.*"account.rate".*double
#include <latchkey/key.hpp>

struct Account {
  int id;
  std::string name;
  double rate;
};

void use() { latchkey::Key<"{account.rate}">::check<"account", Account>(); }
