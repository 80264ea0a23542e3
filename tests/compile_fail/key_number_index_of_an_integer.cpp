// expect: a_number_indexes_containers_and_maps_with_integer_keys<.*"0".*int
#include <latchkey/key.hpp>

struct Account {
  int id;
  std::string name;
  double rate;
};

void use() { latchkey::Key<"{account.id[0]}">::check<"account", Account>(); }
